"use strict";
// Around each test of a worker. A file of tests begins with the tables of its schema; what its beforeAll makes stays; what a test changes is rolled back after it.
const CHECKPOINT = "test";

module.exports = (namespace, schema, { beforeAll, beforeEach, afterEach, afterAll }) => {
  beforeAll(async () => {
    await namespace.reset();
    if (schema.length > 0) await namespace.apply(...schema);
  });
  beforeEach(async () => { await namespace.checkpoint(CHECKPOINT); });
  afterEach(async () => {
    await namespace.rollback(CHECKPOINT);
    await namespace.forget(CHECKPOINT);
    await namespace.faults.clear();
  });
  afterAll(async () => { await namespace.close?.(); });
};
