// Which entities an access pattern is about, and which programs call.
import assert from "node:assert/strict";
import { test } from "node:test";
import { entitiesOfPattern } from "../../console/model/access.js";
import { programOf, programs } from "../../console/model/caller.js";

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

test("a program is the product of its User-Agent, and the name of its application", () => {
  for (const [caller, name] of [["Boto3/1.44.5 md/Botocore#1.44.8 ua/2.1 os/linux#6.18 md/arch#x86_64 lang/python#3.11.7 m/E,e,P cfg/retry-mode#standard", "Boto3/1.44.5"],
    ["Boto3/1.44.5 md/Botocore#1.44.8 ua/2.1 app/orders m/b,N", "Boto3/1.44.5 app/orders"], ["aws-sdk-js/3.600.0 ua/2.0 os/linux#6 lang/js md/nodejs#20", "aws-sdk-js/3.600.0"], ["curl/8.5.0", "curl/8.5.0"],
    ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36", "Chrome/130.0.0.0"], ["nightly job", "nightly job"], ["team/orders nightly", "team/orders nightly"], ["node", "node"], ["", ""]]) {
    assert.equal(programOf(caller), name, caller);
  }
  assert.deepEqual(programs(["Boto3/1.44.5 m/b,N", undefined, "Boto3/1.44.5 m/E,e", "curl/8.5.0", "Boto3/1.44.5 m/b,N"]),
    [{ name: "Boto3/1.44.5", whole: ["Boto3/1.44.5 m/b,N", "Boto3/1.44.5 m/E,e"] }, { name: "curl/8.5.0", whole: ["curl/8.5.0"] }]);
});
