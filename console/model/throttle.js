// Why a request was throttled, in a sentence. AWS: Developer Guide, "Diagnosing and resolving throttling": a reason names
// the table or index, reads or writes, and the limit. Nothing here needs a browser.

/** @type {Map<string, (units: string) => string>} by the limit */
const LIMITS = new Map([
  ["ProvisionedThroughput", (units) => `its provisioned ${units} units a second are used up, and so is the burst of 300 seconds`],
  ["KeyRangeThroughput", (units) => `a range of partition keys takes ${units === "read" ? "3,000 read" : "1,000 write"} units a second, however much the table has: spread the keys`],
  ["MaxOnDemandThroughput", (units) => `its own maximum of ${units} units a second on demand is reached`],
  ["AccountLimit", (units) => `the account's limit of ${units} units a second for a table is reached`],
]);

/** "" for a reason of no known form. @param {string} reason of ThrottlingReasons @param {string} resource its ARN, or the end of it */
export function whyThrottled(reason, resource) {
  const [, kind, units, limit] = /^(Table|Index)(Read|Write)(\w+?)Exceeded$/.exec(reason) ?? [], say = LIMITS.get(limit ?? "");
  if (!say) return "";
  const [, table, , index] = (resource.split(":").pop() ?? "").split("/"), place = kind === "Index" && index ? `index ${index} of table ${table}` : `table ${table}`;
  return `${units === "Read" ? "Reads of" : "Writes to"} ${place}: ${say(units.toLowerCase())}.`;
}
