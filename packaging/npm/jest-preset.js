"use strict";
// {"jest": {"preset": "dynalith"}}
module.exports = {
  globalSetup: require.resolve("./jest/start.cjs"),
  globalTeardown: require.resolve("./jest/stop.cjs"),
  setupFilesAfterEnv: [require.resolve("./jest/each.cjs")],
  reporters: ["default", require.resolve("./jest/reporter.cjs")],
};
