// A request as code for the SDKs and the CLI. Requests are those of the query builder (Query, Scan, GetItem) and of the editor (PutItem), with attribute values of any type.
import { toNative, print } from "../model/types.js";

const lower = (s) => s[0].toLowerCase() + s.slice(1);
const snake = (s) => s.replace(/(?<!^)([A-Z])/g, "_$1").toLowerCase();
const kebab = (s) => snake(s).replaceAll("_", "-");
const hex = (n, digits) => n.toString(16).padStart(digits, "0");
const bytes = (base64) => [...atob(base64)].map((c) => c.charCodeAt(0));
const isValue = (v) => v !== null && typeof v === "object" && !Array.isArray(v) && Object.keys(v).length === 1 && /^(S|N|B|SS|NS|BS|BOOL|NULL|L|M)$/.test(Object.keys(v)[0]);

/** A string literal in ASCII: `code` writes a character that is not, by its code point. */
const literal = (code) => (s) => `"${[...s].map((c) => ({ '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" })[c] ?? (/[ -~]/.test(c) ? c : code(c.codePointAt(0), c))).join("")}"`;
const long = (n) => (n > 0xffff ? `\\U${hex(n, 8)}` : `\\u${hex(n, 4)}`);
const quoted = { Python: literal(long), Go: literal(long), Rust: literal((n) => `\\u{${hex(n)}}`), Java: literal((n, c) => c.split("").map((u) => `\\u${hex(u.charCodeAt(0), 4)}`).join("")) };
const byteString = (base64) => `"${bytes(base64).map((n) => `\\x${hex(n, 2)}`).join("")}"`;

const VALUES = ["ExpressionAttributeValues", "Key", "ExclusiveStartKey", "Item"], NAMES = "ExpressionAttributeNames";
const ENUMS = ["Select", "ReturnConsumedCapacity"];
const pascal = (s) => s.toLowerCase().split("_").map((p) => p[0].toUpperCase() + p.slice(1)).join("");
/** Whether a value of the type is anywhere in the request. */
const has = (input, type) => {
  const inside = (v) => typeof v === "object" && v !== null && ((isValue(v) && type in v) || Object.values(v).some(inside));
  return VALUES.some((n) => Object.values(input[n] ?? {}).some(inside));
};

/** The attribute {B} or {BS}: each value as `each` writes it, several as `list` does. */
const binary = (v, each, list) => ("B" in v ? each(v.B) : list(v.BS.map(each)));
const isBinary = (v) => isValue(v) && (typeof v.B === "string" || Array.isArray(v.BS));

function python(value) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return quoted.Python(value);
  if (typeof value !== "object") return String(value);
  if (isBinary(value)) return `{"${Object.keys(value)[0]}": ${binary(value, (b) => `b${byteString(b)}`, (all) => `[${all.join(", ")}]`)}}`;
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  return `{${Object.entries(value).map(([k, v]) => `${quoted.Python(k)}: ${python(v)}`).join(", ")}}`;
}

function javascript(value) {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isBinary(value)) return `{ ${Object.keys(value)[0]}: ${binary(value, (b) => `Buffer.from(${JSON.stringify(b)}, "base64")`, (all) => `[${all.join(", ")}]`)} }`;
  if (Array.isArray(value)) return `[${value.map(javascript).join(", ")}]`;
  return `{ ${Object.entries(value).map(([k, v]) => `${/^(?!__proto__$)[A-Za-z_]\w*$/.test(k) ? k : k === "__proto__" ? '["__proto__"]' : JSON.stringify(k)}: ${javascript(v)}`).join(", ")} }`;
}

function javaValue(attribute) {
  const [[type, v]] = Object.entries(attribute);
  const list = (each) => v.map(each).join(", "), blob = (b) => `SdkBytes.fromByteArray(Base64.getDecoder().decode("${b}"))`;
  switch (type) {
    case "S": case "N": return `AttributeValue.from${type}(${quoted.Java(v)})`;
    case "BOOL": return `AttributeValue.fromBool(${v})`;
    case "NULL": return "AttributeValue.fromNul(true)";
    case "B": return `AttributeValue.fromB(${blob(v)})`;
    case "SS": case "NS": return `AttributeValue.from${type[0]}s(List.of(${list(quoted.Java)}))`;
    case "L": return `AttributeValue.fromL(List.of(${list(javaValue)}))`;
    case "M": return `AttributeValue.fromM(${javaMap(v, javaValue)})`;
    default: return `AttributeValue.fromBs(List.of(${list(blob)}))`;
  }
}
const javaMap = (map, each) => `Map.ofEntries(${Object.entries(map).map(([k, v]) => `Map.entry(${quoted.Java(k)}, ${each(v)})`).join(", ")})`;

function goValue(attribute) {
  const [[type, v]] = Object.entries(attribute), member = `&types.AttributeValueMember${type}`, blob = (b) => `[]byte(${byteString(b)})`;
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
const goMap = (map) => `map[string]types.AttributeValue{${Object.entries(map).map(([k, v]) => `${quoted.Go(k)}: ${goValue(v)}`).join(", ")}}`;

function rustValue(attribute) {
  const [[type, v]] = Object.entries(attribute), text = (s) => `${quoted.Rust(s)}.to_string()`, name = { SS: "Ss", NS: "Ns", BS: "Bs", BOOL: "Bool", NULL: "Null" }[type] ?? type;
  const blob = (b) => `Blob::new(b${byteString(b)}.to_vec())`;
  const inner = { S: () => text(v), N: () => text(v), BOOL: () => v, NULL: () => true, B: () => blob(v), SS: () => `vec![${v.map(text).join(", ")}]`, NS: () => `vec![${v.map(text).join(", ")}]`,
    BS: () => `vec![${v.map(blob).join(", ")}]`, L: () => `vec![${v.map(rustValue).join(", ")}]`,
    M: () => `HashMap::from([${Object.entries(v).map(([k, e]) => `(${text(k)}, ${rustValue(e)})`).join(", ")}])` }[type]();
  return `AttributeValue::${name}(${inner})`;
}

/** What is shown of an answer: the item, the items, or the whole. */
const answered = (op, item, items) => ({ GetItem: item, PutItem: "" }[op] ?? items);

/** Each is a program as a whole, which takes credentials and region from where the SDK finds them. */
const LANGUAGES = {
  Python: (op, input, url) => {
    const lines = Object.entries(input).map(([k, v]) => `    ${k}=${python(v)},`);
    return `import boto3\n\nclient = boto3.client("dynamodb", endpoint_url=${quoted.Python(url)})\nreply = client.${snake(op)}(\n${lines.join("\n")}\n)\nprint(reply${answered(op, '.get("Item")', '["Items"]')})\n`;
  },
  JavaScript: (op, input, url) => {
    const members = Object.entries(input).map(([k, v]) => `  ${k}: ${javascript(v)},`);
    return `import { DynamoDBClient, ${op}Command } from "@aws-sdk/client-dynamodb";\n\nconst client = new DynamoDBClient({ endpoint: ${JSON.stringify(url)} });\nconst reply = await client.send(new ${op}Command({\n${members.join("\n")}\n}));\nconsole.log(reply${answered(op, ".Item", ".Items")});\n`;
  },
  Java: (op, input, url) => {
    const member = ([k, v]) => {
      const value = VALUES.includes(k) ? javaMap(v, javaValue) : k === NAMES ? javaMap(v, quoted.Java) : typeof v === "string" ? quoted.Java(v) : v;
      return `            .${lower(k)}(${value})`;
    };
    const imports = ["java.net.URI", "java.util.Base64", "java.util.List", "java.util.Map", "software.amazon.awssdk.core.SdkBytes", "software.amazon.awssdk.services.dynamodb.DynamoDbClient",
      "software.amazon.awssdk.services.dynamodb.model.AttributeValue", `software.amazon.awssdk.services.dynamodb.model.${op}Request`];
    return `${imports.map((i) => `import ${i};`).join("\n")}\n\nclass Example {\n    public static void main(String[] args) {\n        var client = DynamoDbClient.builder().endpointOverride(URI.create(${quoted.Java(url)})).build();
        var reply = client.${lower(op)}(${op}Request.builder()\n${Object.entries(input).map(member).join("\n")}\n            .build());\n        System.out.println(reply${answered(op, ".item()", ".items()")});\n    }\n}\n`;
  },
  Go: (op, input, url) => {
    const member = ([k, v]) => {
      let value;
      if (VALUES.includes(k)) value = goMap(v);
      else if (k === NAMES) value = `map[string]string{${Object.entries(v).map(([n, a]) => `${quoted.Go(n)}: ${quoted.Go(a)}`).join(", ")}}`;
      else if (ENUMS.includes(k)) value = `types.${k}${pascal(v)}`;
      else value = typeof v === "string" ? `aws.String(${quoted.Go(v)})` : typeof v === "number" ? `aws.Int32(${v})` : `aws.Bool(${v})`;
      return `\t\t${k}: ${value},`;
    };
    const sdk = "github.com/aws/aws-sdk-go-v2", hasTypes = [...VALUES, ...ENUMS].some((n) => n in input); // Go refuses an import that is not used
    const imports = ["context", "fmt", "log", "", `${sdk}/aws`, `${sdk}/config`, `${sdk}/service/dynamodb`, ...(hasTypes ? [`${sdk}/service/dynamodb/types`] : [])];
    return `package main\n\nimport (\n${imports.map((i) => (i ? `\t"${i}"` : "")).join("\n")}\n)\n\nfunc main() {\n\tctx := context.Background()\n\tcfg, err := config.LoadDefaultConfig(ctx)\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}
\tclient := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = aws.String(${quoted.Go(url)}) })\n\treply, err := client.${op}(ctx, &dynamodb.${op}Input{\n${Object.entries(input).map(member).join("\n")}\n\t})
\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tfmt.Println(reply${answered(op, ".Item", ".Items")})\n}\n`;
  },
  Rust: (op, input, url) => {
    const calls = Object.entries(input).flatMap(([k, v]) => {
      const call = (...args) => `        .${snake(k)}(${args.join(", ")})`;
      if (k === NAMES) return Object.entries(v).map(([n, a]) => call(quoted.Rust(n), quoted.Rust(a)));
      if (VALUES.includes(k)) return Object.entries(v).map(([n, a]) => call(quoted.Rust(n), rustValue(a)));
      if (ENUMS.includes(k)) return call(`${k}::${pascal(v)}`);
      return call(typeof v === "string" ? quoted.Rust(v) : v);
    });
    const types = [...(VALUES.some((n) => n in input) ? ["AttributeValue"] : []), ...ENUMS.filter((n) => n in input)];
    const uses = [...(has(input, "B") || has(input, "BS") ? ["aws_sdk_dynamodb::primitives::Blob"] : []), ...types.map((n) => `aws_sdk_dynamodb::types::${n}`), ...(has(input, "M") ? ["std::collections::HashMap"] : [])];
    return `${uses.map((u) => `use ${u};\n`).join("")}\n#[tokio::main]\nasync fn main() -> Result<(), Box<dyn std::error::Error>> {\n    let config = aws_config::defaults(aws_config::BehaviorVersion::latest()).endpoint_url(${quoted.Rust(url)}).load().await;
    let client = aws_sdk_dynamodb::Client::new(&config);\n    let reply = client\n        .${snake(op)}()\n${calls.join("\n")}\n        .send()\n        .await?;\n    println!("{:?}", reply${answered(op, ".item()", ".items()")});\n    Ok(())\n}\n`.trimStart();
  },
  CLI: (op, input, url) => `aws dynamodb ${kebab(op)} --endpoint-url ${url} --cli-input-json '${JSON.stringify(input, null, 2).replaceAll("'", "'\\''")}'\n`,
};

export const languages = Object.keys(LANGUAGES);
export const codeFor = (language, operation, input, url) => LANGUAGES[language](operation, input, url);
export const shown = (attribute) => print(toNative(attribute));
