// A request as code for the SDKs and the CLI. Requests are those of the query builder (Query, Scan, GetItem) and of the editor (PutItem), with attribute values of any type.
import { typed } from "../model/types.js";

/** @import { Attribute, Input, Item } from "../types.d.ts" */
/** @typedef {{url: string, region: string, key?: string}} Server where a program finds it, and the access key of a namespace that any secret opens */
/** @typedef {(operation: string, input: Input, server: Server) => string} Writer of a program */

const lower = (/** @type {string} */ s) => s[0].toLowerCase() + s.slice(1);
const snake = (/** @type {string} */ s) => s.replace(/(?<!^)([A-Z])/g, "_$1").toLowerCase();
const kebab = (/** @type {string} */ s) => snake(s).replaceAll("_", "-");
const hex = (/** @type {number} */ n, digits = 1) => n.toString(16).padStart(digits, "0");
const bytes = (/** @type {string} */ base64) => [...atob(base64)].map((c) => c.charCodeAt(0));
/** Whether a member of a request is an attribute value. @param {unknown} v @returns {v is Attribute} */
const isValue = (v) => v !== null && typeof v === "object" && !Array.isArray(v) && Object.keys(v).length === 1 && /^(S|N|B|SS|NS|BS|BOOL|NULL|L|M)$/.test(Object.keys(v)[0]);

const ESCAPES = new Map([['"', '\\"'], ["\\", "\\\\"], ["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"]]);
/** A string literal in ASCII: `code` writes a character that is not, by its code point. @param {(n: number, c: string) => string} code */
const literal = (code) => (/** @type {string} */ s) => `"${[...s].map((c) => ESCAPES.get(c) ?? (/[ -~]/.test(c) ? c : code(c.codePointAt(0) ?? 0, c))).join("")}"`;
const long = (/** @type {number} */ n) => (n > 0xffff ? `\\U${hex(n, 8)}` : `\\u${hex(n, 4)}`);
const quoted = { Python: literal(long), Go: literal(long), Rust: literal((n) => `\\u{${hex(n)}}`), Java: literal((n, c) => c.split("").map((u) => `\\u${hex(u.charCodeAt(0), 4)}`).join("")) };
const byteString = (/** @type {string} */ base64) => `"${bytes(base64).map((n) => `\\x${hex(n, 2)}`).join("")}"`;

const VALUES = ["ExpressionAttributeValues", "Key", "ExclusiveStartKey", "Item"], NAMES = "ExpressionAttributeNames";
const ENUMS = ["Select", "ReturnConsumedCapacity"];
const pascal = (/** @type {string} */ s) => s.toLowerCase().split("_").map((p) => p[0].toUpperCase() + p.slice(1)).join("");
/** Whether a value of the type is anywhere in the request. @param {Input} input @param {string} type */
const has = (input, type) => {
  /** @param {unknown} v @returns {boolean} */
  const inside = (v) => typeof v === "object" && v !== null && ((isValue(v) && type in v) || Object.values(v).some(inside));
  return VALUES.some((n) => Object.values(input[n] ?? {}).some(inside));
};
/** A member of a request whose values are attributes by name. */
const itemOf = (/** @type {unknown} */ member) => /** @type {Item} */ (member);
/** Names of attributes by placeholder. */
const namesOf = (/** @type {unknown} */ member) => Object.entries(/** @type {Record<string, string>} */ (member));

/** The attribute {B} or {BS}: each value as `each` writes it, several as `list` does. @param {Attribute} v @param {(base64: string) => string} each @param {(all: string[]) => string} list */
const binary = (v, each, list) => (v.B !== undefined ? each(v.B) : list((v.BS ?? []).map(each)));
/** @param {unknown} v @returns {v is Attribute} */
const isBinary = (v) => isValue(v) && (typeof v.B === "string" || Array.isArray(v.BS));

/** @param {unknown} value @returns {string} */
function python(value) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return quoted.Python(value);
  if (typeof value !== "object") return String(value);
  if (isBinary(value)) return `{"${Object.keys(value)[0]}": ${binary(value, (b) => `b${byteString(b)}`, (all) => `[${all.join(", ")}]`)}}`;
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  return `{${Object.entries(value).map(([k, v]) => `${quoted.Python(k)}: ${python(v)}`).join(", ")}}`;
}

/** @param {unknown} value @returns {string} */
function javascript(value) {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isBinary(value)) return `{ ${Object.keys(value)[0]}: ${binary(value, (b) => `Buffer.from(${JSON.stringify(b)}, "base64")`, (all) => `[${all.join(", ")}]`)} }`;
  if (Array.isArray(value)) return `[${value.map(javascript).join(", ")}]`;
  return `{ ${Object.entries(value).map(([k, v]) => `${/^(?!__proto__$)[A-Za-z_]\w*$/.test(k) ? k : k === "__proto__" ? '["__proto__"]' : JSON.stringify(k)}: ${javascript(v)}`).join(", ")} }`;
}

/** @param {Attribute} attribute @returns {string} */
function javaValue(attribute) {
  const [type, v] = typed(attribute), blob = (/** @type {string} */ b) => `SdkBytes.fromByteArray(Base64.getDecoder().decode("${b}"))`;
  switch (type) {
    case "S": case "N": return `AttributeValue.from${type}(${quoted.Java(v)})`;
    case "BOOL": return `AttributeValue.fromBool(${v})`;
    case "NULL": return "AttributeValue.fromNul(true)";
    case "B": return `AttributeValue.fromB(${blob(v)})`;
    case "SS": case "NS": return `AttributeValue.from${type[0]}s(List.of(${v.map(quoted.Java).join(", ")}))`;
    case "L": return `AttributeValue.fromL(List.of(${v.map(javaValue).join(", ")}))`;
    case "M": return `AttributeValue.fromM(${javaMap(v, javaValue)})`;
    default: return `AttributeValue.fromBs(List.of(${v.map(blob).join(", ")}))`;
  }
}
/** @template V @param {Record<string, V>} map @param {(value: V) => string} each */
const javaMap = (map, each) => `Map.ofEntries(${Object.entries(map).map(([k, v]) => `Map.entry(${quoted.Java(k)}, ${each(v)})`).join(", ")})`;

/** @param {Attribute} attribute @returns {string} */
function goValue(attribute) {
  const [type, v] = typed(attribute), member = `&types.AttributeValueMember${type}`, blob = (/** @type {string} */ b) => `[]byte(${byteString(b)})`;
  switch (type) {
    case "S": case "N": return `${member}{Value: ${quoted.Go(v)}}`;
    case "BOOL": case "NULL": return `${member}{Value: ${v}}`;
    case "B": return `${member}{Value: ${blob(v)}}`;
    case "SS": case "NS": return `${member}{Value: []string{${v.map(quoted.Go).join(", ")}}}`;
    case "L": return `${member}{Value: []types.AttributeValue{${v.map(goValue).join(", ")}}}`;
    case "M": return `${member}{Value: ${goMap(v)}}`;
    default: return `${member}{Value: [][]byte{${v.map(blob).join(", ")}}}`;
  }
}
const goMap = (/** @type {Item} */ map) => `map[string]types.AttributeValue{${Object.entries(map).map(([k, v]) => `${quoted.Go(k)}: ${goValue(v)}`).join(", ")}}`;

/** @param {Attribute} attribute @returns {string} */
function rustValue(attribute) {
  const [type, v] = typed(attribute), text = (/** @type {string} */ s) => `${quoted.Rust(s)}.to_string()`, blob = (/** @type {string} */ b) => `Blob::new(b${byteString(b)}.to_vec())`;
  const value = (/** @type {string} */ name, /** @type {string | boolean} */ inner) => `AttributeValue::${name}(${inner})`;
  switch (type) {
    case "S": case "N": return value(type, text(v));
    case "BOOL": return value("Bool", v);
    case "NULL": return value("Null", true);
    case "B": return value(type, blob(v));
    case "SS": case "NS": return value(`${type[0]}s`, `vec![${v.map(text).join(", ")}]`);
    case "L": return value(type, `vec![${v.map(rustValue).join(", ")}]`);
    case "M": return value(type, `HashMap::from([${Object.entries(v).map(([k, e]) => `(${text(k)}, ${rustValue(e)})`).join(", ")}])`);
    default: return value("Bs", `vec![${v.map(blob).join(", ")}]`);
  }
}

/** What is shown of an answer: the item, the items, or the whole. @param {string} op @param {string} item @param {string} items */
const answered = (op, item, items) => (op === "GetItem" ? item : op === "PutItem" ? "" : items);

/**
 * Each is a program as a whole. Where the server verifies signatures, it takes credentials from where the SDK finds them.
 * @type {Record<string, Writer>}
 */
const LANGUAGES = {
  Python: (op, input, { url, region, key }) => {
    const lines = Object.entries(input).map(([k, v]) => `    ${k}=${python(v)},`);
    return `import boto3\n\nclient = boto3.client("dynamodb", endpoint_url=${quoted.Python(url)}, region_name=${quoted.Python(region)}${key ? `, aws_access_key_id=${quoted.Python(key)}, aws_secret_access_key="any"` : ""})\nreply = client.${snake(op)}(\n${lines.join("\n")}\n)\nprint(reply${answered(op, '.get("Item")', '["Items"]')})\n`;
  },
  JavaScript: (op, input, { url, region, key }) => {
    const members = Object.entries(input).map(([k, v]) => `  ${k}: ${javascript(v)},`);
    return `import { DynamoDBClient, ${op}Command } from "@aws-sdk/client-dynamodb";\n\nconst client = new DynamoDBClient({ endpoint: ${JSON.stringify(url)}, region: ${JSON.stringify(region)}${key ? `, credentials: { accessKeyId: ${JSON.stringify(key)}, secretAccessKey: "any" }` : ""} });\nconst reply = await client.send(new ${op}Command({\n${members.join("\n")}\n}));\nconsole.log(reply${answered(op, ".Item", ".Items")});\n`;
  },
  Java: (op, input, { url, region, key }) => {
    const member = (/** @type {[string, unknown]} */ [k, v]) => {
      const value = VALUES.includes(k) ? javaMap(itemOf(v), javaValue) : k === NAMES ? javaMap(Object.fromEntries(namesOf(v)), quoted.Java) : typeof v === "string" ? quoted.Java(v) : v;
      return `            .${lower(k)}(${value})`;
    };
    const imports = ["java.net.URI", "java.util.Base64", "java.util.List", "java.util.Map", ...(key ? ["AwsBasicCredentials", "StaticCredentialsProvider"] : []).map((n) => `software.amazon.awssdk.auth.credentials.${n}`), "software.amazon.awssdk.core.SdkBytes", "software.amazon.awssdk.regions.Region", "software.amazon.awssdk.services.dynamodb.DynamoDbClient",
      "software.amazon.awssdk.services.dynamodb.model.AttributeValue", `software.amazon.awssdk.services.dynamodb.model.${op}Request`];
    return `${imports.map((i) => `import ${i};`).join("\n")}\n\nclass Example {\n    public static void main(String[] args) {\n        var client = DynamoDbClient.builder().endpointOverride(URI.create(${quoted.Java(url)})).region(Region.of(${quoted.Java(region)}))${key ? `.credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create(${quoted.Java(key)}, "any")))` : ""}.build();
        var reply = client.${lower(op)}(${op}Request.builder()\n${Object.entries(input).map(member).join("\n")}\n            .build());\n        System.out.println(reply${answered(op, ".item()", ".items()")});\n    }\n}\n`;
  },
  Go: (op, input, { url, region, key }) => {
    const member = (/** @type {[string, unknown]} */ [k, v]) => {
      let value;
      if (VALUES.includes(k)) value = goMap(itemOf(v));
      else if (k === NAMES) value = `map[string]string{${namesOf(v).map(([n, a]) => `${quoted.Go(n)}: ${quoted.Go(a)}`).join(", ")}}`;
      else if (ENUMS.includes(k)) value = `types.${k}${pascal(String(v))}`;
      else value = typeof v === "string" ? `aws.String(${quoted.Go(v)})` : typeof v === "number" ? `aws.Int32(${v})` : `aws.Bool(${v})`;
      return `\t\t${k}: ${value},`;
    };
    const sdk = "github.com/aws/aws-sdk-go-v2", hasTypes = [...VALUES, ...ENUMS].some((n) => n in input); // Go refuses an import that is not used
    const imports = ["context", "fmt", "log", "", `${sdk}/aws`, `${sdk}/config`, ...(key ? [`${sdk}/credentials`] : []), `${sdk}/service/dynamodb`, ...(hasTypes ? [`${sdk}/service/dynamodb/types`] : [])];
    return `package main\n\nimport (\n${imports.map((i) => (i ? `\t"${i}"` : "")).join("\n")}\n)\n\nfunc main() {\n\tctx := context.Background()\n\tcfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(${quoted.Go(region)})${key ? `, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(${quoted.Go(key)}, "any", ""))` : ""})\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}
\tclient := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = aws.String(${quoted.Go(url)}) })\n\treply, err := client.${op}(ctx, &dynamodb.${op}Input{\n${Object.entries(input).map(member).join("\n")}\n\t})
\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tfmt.Println(reply${answered(op, ".Item", ".Items")})\n}\n`;
  },
  Rust: (op, input, { url, region, key }) => {
    const calls = Object.entries(input).flatMap(([k, v]) => {
      const call = (/** @type {string[]} */ ...args) => `        .${snake(k)}(${args.join(", ")})`;
      if (k === NAMES) return namesOf(v).map(([n, a]) => call(quoted.Rust(n), quoted.Rust(a)));
      if (VALUES.includes(k)) return Object.entries(itemOf(v)).map(([n, a]) => call(quoted.Rust(n), rustValue(a)));
      if (ENUMS.includes(k)) return call(`${k}::${pascal(String(v))}`);
      return call(typeof v === "string" ? quoted.Rust(v) : String(v));
    });
    const types = [...(VALUES.some((n) => n in input) ? ["AttributeValue"] : []), ...ENUMS.filter((n) => n in input)];
    const uses = [...(has(input, "B") || has(input, "BS") ? ["aws_sdk_dynamodb::primitives::Blob"] : []), ...types.map((n) => `aws_sdk_dynamodb::types::${n}`), ...(has(input, "M") ? ["std::collections::HashMap"] : [])];
    return `${uses.map((u) => `use ${u};\n`).join("")}\n#[tokio::main]\nasync fn main() -> Result<(), Box<dyn std::error::Error>> {\n    let config = aws_config::defaults(aws_config::BehaviorVersion::latest()).endpoint_url(${quoted.Rust(url)}).region(aws_config::Region::new(${quoted.Rust(region)}))${key ? `.credentials_provider(aws_sdk_dynamodb::config::Credentials::new(${quoted.Rust(key)}, "any", None, None, "dynalith"))` : ""}.load().await;
    let client = aws_sdk_dynamodb::Client::new(&config);\n    let reply = client\n        .${snake(op)}()\n${calls.join("\n")}\n        .send()\n        .await?;\n    println!("{:?}", reply${answered(op, ".item()", ".items()")});\n    Ok(())\n}\n`.trimStart();
  },
  CLI: (op, input, { url, region, key }) => `${key ? `AWS_ACCESS_KEY_ID=${key} AWS_SECRET_ACCESS_KEY=any ` : ""}aws dynamodb ${kebab(op)} --endpoint-url ${url} --region ${region} --cli-input-json '${JSON.stringify(input, null, 2).replaceAll("'", "'\\''")}'\n`,
};

export const languages = Object.keys(LANGUAGES);
/** @param {string} language @param {string} operation @param {Input} input @param {Server} server */
export const codeFor = (language, operation, input, server) => {
  const mark = language === "Python" ? "#" : "//", isPaged = /^(Query|Scan)$/.test(operation) && language !== "CLI"; // the CLI reads all pages
  return `${isPaged ? `${mark} One page, of up to 1 MB: where it is not the last, the answer's LastEvaluatedKey says where the next begins.\n` : ""}${LANGUAGES[language](operation, input, server)}`;
};
