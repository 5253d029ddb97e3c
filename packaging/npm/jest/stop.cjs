"use strict";
module.exports = () => globalThis.__dynalith?.stop();
