// A request as code for the SDKs and the CLI. Requests are those of the query builder: Query, Scan and GetItem with attribute values of any type.
import { toNative, print } from "./types.js";

const lower = (s) => s[0].toLowerCase() + s.slice(1);
const snake = (s) => s.replace(/(?<!^)([A-Z])/g, "_$1").toLowerCase();
const kebab = (s) => snake(s).replaceAll("_", "-");
const quoted = (s) => JSON.stringify(s).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
const goQuoted = (s) => quoted(s);
const rustQuoted = (s) => JSON.stringify(s).replace(/\\u([0-9a-f]{4})/g, "\\u{$1}").replace(/\\[bf]/g, (m) => ({ "\\b": "\\u{8}", "\\f": "\\u{c}" })[m]);
const isValue = (v) => v !== null && typeof v === "object" && !Array.isArray(v) && Object.keys(v).length === 1 && /^(S|N|B|SS|NS|BS|BOOL|NULL|L|M)$/.test(Object.keys(v)[0]);
const indent = (text, by) => text.replaceAll("\n", `\n${by}`);

function python(value) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return quoted(value);
  if (typeof value !== "object") return String(value);
  if (isValue(value) && "B" in value) return `{"B": base64.b64decode(${quoted(value.B)})}`;
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  return `{${Object.entries(value).map(([k, v]) => `${quoted(k)}: ${python(v)}`).join(", ")}}`;
}

function javaValue(attribute) {
  const [[type, v]] = Object.entries(attribute);
  const list = (each) => v.map(each).join(", ");
  switch (type) {
    case "S": case "N": return `AttributeValue.from${type}(${quoted(v)})`;
    case "BOOL": return `AttributeValue.fromBool(${v})`;
    case "NULL": return "AttributeValue.fromNul(true)";
    case "B": return `AttributeValue.fromB(SdkBytes.fromByteArray(Base64.getDecoder().decode(${quoted(v)})))`;
    case "SS": case "NS": return `AttributeValue.from${type[0]}s(List.of(${list(quoted)}))`;
    case "L": return `AttributeValue.fromL(List.of(${list(javaValue)}))`;
    case "M": return `AttributeValue.fromM(${javaMap(v, javaValue)})`;
    default: return `AttributeValue.fromBs(List.of(${list((b) => `SdkBytes.fromByteArray(Base64.getDecoder().decode(${quoted(b)}))`)}))`;
  }
}
const javaMap = (map, each) => `Map.ofEntries(${Object.entries(map).map(([k, v]) => `Map.entry(${quoted(k)}, ${each(v)})`).join(", ")})`;

function goValue(attribute) {
  const [[type, v]] = Object.entries(attribute), member = `&types.AttributeValueMember${type}`;
  switch (type) {
    case "S": case "N": return `${member}{Value: ${goQuoted(v)}}`;
    case "BOOL": case "NULL": return `${member}{Value: ${v}}`;
    case "B": return `${member}{Value: fromBase64(${goQuoted(v)})}`;
    case "SS": case "NS": return `${member}{Value: []string{${v.map(goQuoted).join(", ")}}}`;
    case "L": return `${member}{Value: []types.AttributeValue{${v.map(goValue).join(", ")}}}`;
    case "M": return `${member}{Value: ${goMap(v)}}`;
    default: return `${member}{Value: [][]byte{${v.map((b) => `fromBase64(${goQuoted(b)})`).join(", ")}}}`;
  }
}
const goMap = (map) => `map[string]types.AttributeValue{${Object.entries(map).map(([k, v]) => `${goQuoted(k)}: ${goValue(v)}`).join(", ")}}`;

function rustValue(attribute) {
  const [[type, v]] = Object.entries(attribute), text = (s) => `${rustQuoted(s)}.to_string()`, name = { SS: "Ss", NS: "Ns", BS: "Bs", BOOL: "Bool", NULL: "Null" }[type] ?? type;
  const blob = (b) => `Blob::new(from_base64(${rustQuoted(b)}))`;
  const inner = { S: () => text(v), N: () => text(v), BOOL: () => v, NULL: () => true, B: () => blob(v), SS: () => `vec![${v.map(text).join(", ")}]`, NS: () => `vec![${v.map(text).join(", ")}]`,
    BS: () => `vec![${v.map(blob).join(", ")}]`, L: () => `vec![${v.map(rustValue).join(", ")}]`,
    M: () => `HashMap::from([${Object.entries(v).map(([k, e]) => `(${text(k)}, ${rustValue(e)})`).join(", ")}])` }[type]();
  return `AttributeValue::${name}(${inner})`;
}

const VALUES = ["ExpressionAttributeValues", "Key", "ExclusiveStartKey"], NAMES = "ExpressionAttributeNames";
const ENUMS = { Select: "Select", ReturnConsumedCapacity: "ReturnConsumedCapacity" };
const pascal = (s) => s.toLowerCase().split("_").map((p) => p[0].toUpperCase() + p.slice(1)).join("");

const LANGUAGES = {
  Python: (op, input, url) => {
    const lines = Object.entries(input).map(([k, v]) => `    ${k}=${python(v)},`);
    const base64 = JSON.stringify(input).includes('"B":') ? "import base64\n" : "";
    return `${base64}import boto3\n\nclient = boto3.client("dynamodb", endpoint_url=${quoted(url)})\nreply = client.${snake(op)}(\n${lines.join("\n")}\n)\nprint(reply${op === "GetItem" ? '.get("Item")' : '["Items"]'})\n`;
  },
  JavaScript: (op, input, url) => {
    const members = Object.entries(input).map(([k, v]) => `  ${k}: ${indent(JSON.stringify(v).replace(/\{"B":("[^"]*")\}/g, '{ "B": Buffer.from($1, "base64") }'), "  ")},`);
    return `import { DynamoDBClient, ${op}Command } from "@aws-sdk/client-dynamodb";\n\nconst client = new DynamoDBClient({ endpoint: ${quoted(url)} });\nconst reply = await client.send(new ${op}Command({\n${members.join("\n")}\n}));\nconsole.log(reply.${op === "GetItem" ? "Item" : "Items"});\n`;
  },
  Java: (op, input, url) => {
    const member = ([k, v]) => {
      const value = VALUES.includes(k) ? javaMap(v, javaValue) : k === NAMES ? javaMap(v, quoted) : typeof v === "string" ? quoted(v) : v;
      return `    .${lower(k)}(${value})`;
    };
    return `var client = DynamoDbClient.builder().endpointOverride(URI.create(${quoted(url)})).build();\nvar reply = client.${lower(op)}(${op}Request.builder()\n${Object.entries(input).map(member).join("\n")}\n    .build());\nSystem.out.println(reply.${op === "GetItem" ? "item" : "items"}());\n`;
  },
  Go: (op, input, url) => {
    const member = ([k, v]) => {
      let value;
      if (VALUES.includes(k)) value = goMap(v);
      else if (k === NAMES) value = `map[string]string{${Object.entries(v).map(([n, a]) => `${goQuoted(n)}: ${goQuoted(a)}`).join(", ")}}`;
      else if (ENUMS[k]) value = `types.${ENUMS[k]}${pascal(v)}`;
      else value = typeof v === "string" ? `aws.String(${goQuoted(v)})` : typeof v === "number" ? `aws.Int32(${v})` : `aws.Bool(${v})`;
      return `\t${k}: ${value},`;
    };
    return `client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = aws.String(${goQuoted(url)}) })\nreply, err := client.${op}(ctx, &dynamodb.${op}Input{\n${Object.entries(input).map(member).join("\n")}\n})\nif err != nil {\n\treturn err\n}\nfmt.Println(reply.${op === "GetItem" ? "Item" : "Items"})\n`;
  },
  Rust: (op, input, url) => {
    const calls = Object.entries(input).flatMap(([k, v]) => {
      const call = (...args) => `    .${snake(k)}(${args.join(", ")})`;
      if (k === NAMES) return Object.entries(v).map(([n, a]) => call(rustQuoted(n), rustQuoted(a)));
      if (VALUES.includes(k)) return Object.entries(v).map(([n, a]) => call(rustQuoted(n), rustValue(a)));
      if (ENUMS[k]) return call(`${ENUMS[k]}::${pascal(v)}`);
      return call(typeof v === "string" ? rustQuoted(v) : v);
    });
    return `let config = aws_config::from_env().endpoint_url(${rustQuoted(url)}).load().await;\nlet client = aws_sdk_dynamodb::Client::new(&config);\nlet reply = client\n    .${snake(op)}()\n${calls.join("\n")}\n    .send()\n    .await?;\nprintln!("{:?}", reply.${op === "GetItem" ? "item" : "items"}());\n`;
  },
  CLI: (op, input, url) => `aws dynamodb ${kebab(op)} --endpoint-url ${url} --cli-input-json '${JSON.stringify(input, null, 2).replaceAll("'", "'\\''")}'\n`,
};

export const languages = Object.keys(LANGUAGES);
export const codeFor = (language, operation, input, url) => LANGUAGES[language](operation, input, url);
export const shown = (attribute) => print(toNative(attribute));
