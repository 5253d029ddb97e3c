"use strict";
// Around each test of a worker. A file of tests begins with no tables; what its beforeAll makes stays; what a test changes is rolled back after it.
const CHECKPOINT = "test";

module.exports = (namespace, { beforeAll, beforeEach, afterEach }) => {
  beforeAll(async () => { await namespace.reset(); });
  beforeEach(async () => { await namespace.checkpoint(CHECKPOINT); });
  afterEach(async () => {
    await namespace.rollback(CHECKPOINT);
    await namespace.forget(CHECKPOINT);
    await namespace.faults.clear();
  });
};
