// Which entities an access pattern is about.
import assert from "node:assert/strict";
import { test } from "node:test";
import { entitiesOfPattern } from "../../console/model/access.js";

const type = (name, table, index) => ({ name, templates: new Map([["", new Map([[table, 1]])], ...(index ? [["GSI1", new Map([[index, 1]])]] : [])]) });
const types = [type("CUSTOMER", "PK = CUSTOMER#<number>, SK = PROFILE"), type("ORDER", "PK = CUSTOMER#<number>, SK = ORDER#<date>", "GSI1PK = STATUS#<id>, GSI1SK = <date>"),
  type("PRODUCT", "PK = PRODUCT#<number>, SK = PRODUCT", "GSI1PK = PRODUCT#<number>, GSI1SK = PRODUCT")];

test("by the prefixes of its key condition", () => {
  for (const [key, index, wanted] of [["PK = \"CUSTOMER#…\" and SK = \"PROFILE\"", undefined, ["CUSTOMER"]], ["PK = \"CUSTOMER#…\"", undefined, ["CUSTOMER", "ORDER"]],
    ["PK = ? and begins_with(SK, \"ORDER#\")", undefined, ["ORDER"]], ["PK = ? and begins_with(SK, \"ORDER#…\")", undefined, ["ORDER"]], ["PK = \"CUSTOMER#…\" and begins_with(SK, \"OR\")", undefined, ["ORDER"]],
    ["GSI1PK = \"STATUS#OPEN\"", "GSI1", ["ORDER"]], ["PK = ? and SK = ?", undefined, []], [undefined, undefined, []], ["PK = \"OTHER#…\"", undefined, []], ["PK = \"CUSTOMER#7\" and SK = \"PROFIL\"", undefined, []]]) {
    assert.deepEqual(entitiesOfPattern({ key, index }, types), wanted, key);
  }
});
