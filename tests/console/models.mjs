// Twenty-three tables as people build them, each item with the name of its entity: what the console
// must name right. Names count as equal without case and separators (OrderItem, ORDER_ITEM).
const S = (v) => ({ S: v }), N = (v) => ({ N: String(v) });

/** Native values as an item. */
const item = (fields) => Object.fromEntries(Object.entries(fields).map(([n, v]) => [n,
  typeof v === "number" ? N(v) : typeof v === "string" ? S(v) : v]));
const rows = (entity, n, make) => Array.from({ length: n }, (_, i) => ({ entity, item: item(make(i + 1)) }));
const schema = (pk, sk) => [{ AttributeName: pk, KeyType: "HASH" },
  ...(sk ? [{ AttributeName: sk, KeyType: "RANGE" }] : [])];

function table(TableName, [pk, sk], indexes = [], types = {}) {
  const names = [pk, sk, ...indexes.flatMap((i) => i.keys)].filter(Boolean);
  return { TableName, BillingMode: "PAY_PER_REQUEST", KeySchema: schema(pk, sk),
    AttributeDefinitions: [...new Set(names)].map((AttributeName) =>
      ({ AttributeName, AttributeType: types[AttributeName] ?? "S" })),
    ...(indexes.length ? { GlobalSecondaryIndexes: indexes.map(({ name, keys, projection }) =>
      ({ IndexName: name, KeySchema: schema(...keys),
        Projection: { ProjectionType: projection ?? "ALL" } })) } : {}) };
}

const gsi = (n, projection) => ({ name: `GSI${n}`, keys: [`GSI${n}PK`, `GSI${n}SK`], projection });
const day = (i) => `2026-02-${String(1 + (i % 27)).padStart(2, "0")}`;
const pad = (i, n = 4) => String(i).padStart(n, "0");
const uuid = (i) => `${pad(i * 7919 % 99999999, 8)}-1a2b-4c3d-8e4f-${pad(i * 104729, 12)}`;
const people = ["ada", "grace", "alan", "barbara", "edsger", "frances", "tony", "hedy"];
const who = (i) => people[i % people.length];

export const models = [
  { family: "PynamoDB", name: "discriminator cls", table: table("pets", ["id"]), items: [
    ...rows("Dog", 6, (i) => ({ id: uuid(i), cls: "Dog", name: who(i), breed: "collie" })),
    ...rows("Cat", 5, (i) => ({ id: uuid(i + 50), cls: "Cat", name: who(i), lives: 9, indoor: { BOOL: true } })),
  ] },
  { family: "PynamoDB", name: "range keys, no type", table: table("threads", ["forum_name", "subject"]), items: [
    ...rows("threads", 9, (i) => ({ forum_name: i % 2 ? "Python" : "Databases", subject: `How do I ${who(i)}?`,
      views: i, answered: 0 })),
  ] },
  { family: "electrodb", name: "two entities of a service",
    table: table("electro", ["pk", "sk"], [{ name: "gsi1pk-gsi1sk-index", keys: ["gsi1pk", "gsi1sk"] }]), items: [
      ...rows("employee", 6, (i) => ({ pk: `$taskapp#employeeid_${pad(i)}`, sk: "$employee_1",
        gsi1pk: "$taskapp#office_north", gsi1sk: `$staff#employee_1#team_${i % 2}`, __edb_e__: "employee",
        __edb_v__: "1", employeeId: pad(i), office: "north" })),
      ...rows("task", 12, (i) => ({ pk: `$taskapp#taskid_${pad(i)}`, sk: `$task_1#project_core`,
        gsi1pk: `$taskapp#office_north`, gsi1sk: `$work#task_1#status_open`, __edb_e__: "task",
        __edb_v__: "1", taskId: pad(i), project: "core", status: "open", type: i % 2 ? "bug" : "chore" })),
    ] },
  { family: "electrodb", name: "a collection of three",
    table: table("library", ["pk", "sk"]), items: [
      ...rows("author", 3, (i) => ({ pk: `$lib#author_${who(i)}`, sk: "$books#author_1", __edb_e__: "author", __edb_v__: "1", born: 1900 + i })),
      ...rows("book", 6, (i) => ({ pk: `$lib#author_${who(i % 3)}`, sk: `$books#book_1#isbn_${i}`, __edb_e__: "book", __edb_v__: "1", pages: i })),
      ...rows("loan", 6, (i) => ({ pk: `$lib#author_${who(i % 3)}`, sk: `$books#loan_1#at_${day(i)}`, __edb_e__: "loan", __edb_v__: "1", kind: "short" })),
    ] },
  { family: "OneTable", name: "_type, unique items have none", table: table("onetable", ["pk", "sk"], [gsi(1)]), items: [
    ...rows("Account", 3, (i) => ({ pk: `account#${i}`, sk: "account#", _type: "Account", name: `Acme ${i}` })),
    ...rows("User", 8, (i) => ({ pk: `account#${1 + i % 3}`, sk: `user#${who(i)}@example.com`, _type: "User",
      email: `${who(i)}@example.com`, type: i % 2 ? "admin" : "guest" })),
    ...rows("_unique", 8, (i) => ({ pk: `_unique#User#email#${who(i)}@example.com`, sk: "_unique#" })),
  ] },
  { family: "OneTable", name: "a type field of another name", table: table("billing", ["pk", "sk"]), items: [
    ...rows("Invoice", 6, (i) => ({ pk: `invoice#${pad(i)}`, sk: "invoice#", type: "Invoice", total: i })),
    ...rows("LineItem", 12, (i) => ({ pk: `invoice#${pad(1 + i % 6)}`, sk: `line#${pad(i)}`, type: "LineItem", quantity: i })),
    ...rows("Payment", 4, (i) => ({ pk: `invoice#${pad(i)}`, sk: `payment#${day(i)}`, type: "Payment", amount: i })),
  ] },
  { family: "toolbox", name: "_et, _ct, _md", table: table("toolbox", ["PK", "SK"], [gsi(1)]), items: [
    ...rows("Pokemon", 5, (i) => ({ PK: `TRAINER#${who(i)}`, SK: `MON#${pad(i)}`, _et: "Pokemon", _ct: day(i), _md: day(i), level: i })),
    ...rows("Trainer", 5, (i) => ({ PK: `TRAINER#${who(i)}`, SK: "TRAINER", _et: "Trainer", _ct: day(i), _md: day(i), town: "north" })),
  ] },
  { family: "toolbox", name: "entity, and a kind that is data", table: table("toolbox2", ["pk", "sk"]), items: [
    ...rows("CUSTOMER", 6, (i) => ({ pk: `C#${i}`, sk: "C", entity: "CUSTOMER", kind: i % 2 ? "new" : "old" })),
    ...rows("VISIT", 9, (i) => ({ pk: `C#${1 + i % 6}`, sk: `V#${day(i)}`, entity: "VISIT", kind: i % 2 ? "web" : "shop" })),
  ] },
  { family: "dynamoose", name: "one model, a type that is data", table: table("Product", ["id"]), items: [
    ...rows("Product", 12, (i) => ({ id: uuid(i), type: i % 3 ? "book" : "film", title: `Title ${i}`, createdAt: 1700000000000 + i })),
  ] },
  { family: "dynamoose", name: "models in one table by __typename", table: table("api", ["pk", "sk"]), items: [
    ...rows("Post", 6, (i) => ({ pk: uuid(i), sk: day(i), __typename: "Post", title: `Post ${i}` })),
    ...rows("Comment", 10, (i) => ({ pk: uuid(1 + i % 6), sk: `${day(i)}T10:00:00Z`, __typename: "Comment", text: "Fine" })),
  ] },
  { family: "plain", name: "a shop by key prefixes alone", table: table("shop", ["PK", "SK"], [gsi(1)]), items: [
    ...rows("CUSTOMER", 6, (i) => ({ PK: `CUSTOMER#${i}`, SK: "PROFILE", name: who(i), type: i % 2 ? "firm" : "person" })),
    ...rows("ADDRESS", 6, (i) => ({ PK: `CUSTOMER#${i}`, SK: `ADDRESS#${i % 2 ? "home" : "work"}`, street: "Mill Road", type: "post" })),
    ...rows("ORDER", 9, (i) => ({ PK: `CUSTOMER#${1 + i % 6}`, SK: `ORDER#${day(i)}#${pad(i)}`, total: i, GSI1PK: "STATUS#OPEN", GSI1SK: day(i) })),
    ...rows("ORDER_ITEM", 18, (i) => ({ PK: `CUSTOMER#${1 + i % 6}`, SK: `ORDER#${pad(i)}#ITEM#${i}`, quantity: i })),
  ] },
  { family: "plain", name: "ids with short prefixes", table: table("objects", ["id"]), items: [
    ...rows("cus", 6, (i) => ({ id: `cus_9s${i}XKzkNRiz8i3`, email: `${who(i)}@example.com` })),
    ...rows("ch", 8, (i) => ({ id: `ch_1Nz${i}2eZvKYlo2C`, amount: i })),
    ...rows("in", 5, (i) => ({ id: `in_1Mt${i}HbLkdIwHu7`, lines: i })),
  ] },
  { family: "plain", name: "small letters, words alone as sort keys", table: table("accounts", ["pk", "sk"]), items: [
    ...rows("user", 6, (i) => ({ pk: `user:${i}`, sk: "profile", name: who(i) })),
    ...rows("settings", 6, (i) => ({ pk: `user:${i}`, sk: "settings", theme: "dark", locale: "en" })),
    ...rows("session", 9, (i) => ({ pk: `user:${1 + i % 6}`, sk: `session:${uuid(i)}`, expires: i })),
  ] },
  { family: "plain", name: "a tenant before each key", table: table("saas", ["pk", "sk"]), items: [
    ...rows("USER", 8, (i) => ({ pk: `TENANT#${i % 2}#USER#${i}`, sk: "META", email: `${who(i)}@example.com` })),
    ...rows("PROJECT", 6, (i) => ({ pk: `TENANT#${i % 2}#PROJECT#${i}`, sk: "META", title: `Project ${i}` })),
    ...rows("TASK", 12, (i) => ({ pk: `TENANT#${i % 2}#PROJECT#${1 + i % 6}`, sk: `TASK#${pad(i)}`, done: 0 })),
  ] },
  { family: "overloaded indexes", name: "one index serves three patterns", table: table("hr", ["PK", "SK"], [gsi(1, "KEYS_ONLY"), gsi(2)]), items: [
    ...rows("EMPLOYEE", 6, (i) => ({ PK: `EMPLOYEE#${i}`, SK: "META", GSI1PK: "WAREHOUSE#1", GSI1SK: `${who(i)}`, GSI2PK: "TITLE#clerk", GSI2SK: day(i), hired: day(i) })),
    ...rows("QUOTA", 6, (i) => ({ PK: `EMPLOYEE#${i}`, SK: `QUOTA#2026-Q${1 + i % 4}`, GSI1PK: "2026-Q1", GSI1SK: pad(i * 100, 8), target: i })),
    ...rows("WAREHOUSE", 2, (i) => ({ PK: `WAREHOUSE#${i}`, SK: "META", GSI1PK: `REGION#north`, GSI1SK: `WAREHOUSE#${i}`, city: "Oslo" })),
  ] },
  { family: "overloaded indexes", name: "status and mail in one index", table: table("tickets", ["PK", "SK"], [gsi(1)]), items: [
    ...rows("TICKET", 8, (i) => ({ PK: `TICKET#${pad(i)}`, SK: `TICKET#${pad(i)}`, GSI1PK: `STATUS#${i % 2 ? "OPEN" : "CLOSED"}`, GSI1SK: day(i), subject: `Ticket ${i}` })),
    ...rows("MESSAGE", 12, (i) => ({ PK: `TICKET#${pad(1 + i % 8)}`, SK: `MESSAGE#${day(i)}`, GSI1PK: `MAIL#${who(i)}`, GSI1SK: day(i), text: "Hello" })),
    ...rows("EMAIL", 4, (i) => ({ PK: `EMAIL#${who(i)}@example.com`, SK: `EMAIL#${who(i)}@example.com`, ticket: pad(i) })),
  ] },
  { family: "sparse", name: "few items in the index", table: table("mail", ["PK", "SK"], [{ name: "unread", keys: ["unreadPK", "SK"], projection: "KEYS_ONLY" }]), items: [
    ...rows("MAILBOX", 4, (i) => ({ PK: `MAILBOX#${who(i)}`, SK: "#METADATA", quota: i })),
    ...rows("LETTER", 16, (i) => ({ PK: `MAILBOX#${who(i % 4)}`, SK: `LETTER#${day(i)}T10:00:00Z#${i}`, ...(i % 5 ? {} : { unreadPK: `MAILBOX#${who(i % 4)}` }), subject: "Hi" })),
  ] },
  { family: "adjacency list", name: "students and courses", table: table("school", ["PK", "SK"], [{ name: "inverse", keys: ["SK", "PK"] }]), items: [
    ...rows("STUDENT", 6, (i) => ({ PK: `STUDENT#${i}`, SK: `STUDENT#${i}`, name: who(i) })),
    ...rows("COURSE", 4, (i) => ({ PK: `COURSE#${i}`, SK: `COURSE#${i}`, title: `Course ${i}` })),
    ...rows("STUDENT_COURSE", 14, (i) => ({ PK: `STUDENT#${1 + i % 6}`, SK: `COURSE#${1 + (i % 4)}`, grade: i })),
  ] },
  { family: "adjacency list", name: "a graph with edges by kind", table: table("graph", ["PK", "SK"], [{ name: "inverse", keys: ["SK", "PK"] }]), items: [
    ...rows("PERSON", 8, (i) => ({ PK: `PERSON#${who(i)}`, SK: "METADATA", born: 1900 + i })),
    ...rows("FOLLOWS", 12, (i) => ({ PK: `PERSON#${who(i)}`, SK: `FOLLOWS#${who(i + 3)}`, since: day(i) })),
    ...rows("LIKES", 9, (i) => ({ PK: `PERSON#${who(i)}`, SK: `LIKES#POST#${i}`, at: day(i) })),
  ] },
  { family: "time series", name: "readings by day, devices beside them", table: table("telemetry", ["PK", "SK"]), items: [
    ...rows("DEVICE", 3, (i) => ({ PK: `DEVICE#${i}`, SK: "META", firmware: "1.2" })),
    ...rows("READING", 30, (i) => ({ PK: `DEVICE#${1 + i % 3}`, SK: `READING#2026-02-01T10:${pad(i, 2)}:00Z`, celsius: i, type: i % 2 ? "air" : "soil" })),
    ...rows("ALARM", 4, (i) => ({ PK: `DEVICE#${1 + i % 3}`, SK: `ALARM#2026-02-01T10:${pad(i, 2)}:30Z`, limit: i, ttl: 1790000000 })),
  ] },
  { family: "time series", name: "dates alone as sort keys", table: table("metrics", ["series", "at"]), items: [
    ...rows("CPU", 12, (i) => ({ series: `CPU#host${i % 3}`, at: `2026-02-01T10:${pad(i, 2)}:00Z`, percent: i })),
    ...rows("DISK", 12, (i) => ({ series: `DISK#host${i % 3}`, at: `2026-02-01T10:${pad(i, 2)}:00Z`, free: i })),
  ] },
  { family: "one table an entity", name: "orders, with a status and a type", table: table("Orders", ["orderId"], [{ name: "byCustomer", keys: ["customerId", "placedAt"] }]), items: [
    ...rows("Orders", 12, (i) => ({ orderId: uuid(i), customerId: uuid(i % 4), placedAt: day(i), status: i % 2 ? "open" : "paid", orderType: i % 3 ? "web" : "phone" })),
  ] },
  { family: "one table an entity", name: "numbers as keys", table: table("scores", ["player", "game"], [], { player: "N", game: "N" }), items: [
    ...rows("scores", 12, (i) => ({ player: i % 5, game: i, points: i * 10 })),
  ] },
];
