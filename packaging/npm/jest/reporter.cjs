"use strict";
// Prints what the server logged while a file of tests ran of which one failed.
module.exports = class {
  starts = new Map();

  onTestFileStart(test) { this.starts.set(test.path, globalThis.__dynalith?.log().length ?? 0); }

  onTestFileResult(test, result) {
    const text = result.numFailingTests > 0 ? globalThis.__dynalith?.log(this.starts.get(test.path) ?? 0) : "";
    if (text) console.error(`log of dynalith during ${test.path}:\n${text}`);
  }
};
