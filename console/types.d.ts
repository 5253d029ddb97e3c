// What the modules pass to each other, and what the server answers, for the checker alone: nothing here
// runs, and the file is not served. Of answers it has the members that the page reads.

import type { Forecast } from "./lab.d.ts";
import type { Exact } from "./model/types.js";

// Values

/** A value in DynamoDB JSON: one member, whose name is the type. */
export type Attribute = {
  S?: string; N?: string; B?: string; BOOL?: boolean; NULL?: boolean;
  SS?: string[]; NS?: string[]; BS?: string[]; L?: Attribute[]; M?: Item;
};
/** The same as a pair: see typed() of model/types.js. */
export type Typed = ["S" | "N" | "B", string] | ["BOOL" | "NULL", boolean] | ["SS" | "NS" | "BS", string[]] | ["L", Attribute[]] | ["M", Item];
/** Native JSON, whose numbers keep their digits: see parse() of model/types.js. */
export type Native = null | boolean | string | number | Exact | Native[] | { [name: string]: Native };
/** Attributes by name. */
export type Item = { [name: string]: Attribute };

// Tables

export type KeySchema = { AttributeName: string; KeyType: string }[];
export type AttributeDefinition = { AttributeName: string; AttributeType: string };
export type Projection = { ProjectionType: string; NonKeyAttributes?: string[] };
export type Index = { IndexName: string; KeySchema: KeySchema; Projection: Projection; ItemCount?: number; ProvisionedThroughput?: { ReadCapacityUnits: number; WriteCapacityUnits: number } };
/** What keys and entities need to know of a table. */
export type Keyed = { TableName: string; KeySchema: KeySchema };
export type Table = Keyed & { AttributeDefinitions: AttributeDefinition[] };
/** As DescribeTable shows it. */
export type TableDescription = Table & {
  ItemCount: number; TableSizeBytes: number; TableStatus: string;
  GlobalSecondaryIndexes?: Index[]; LocalSecondaryIndexes?: Index[];
  BillingModeSummary?: { BillingMode: string };
  ProvisionedThroughput?: { ReadCapacityUnits: number; WriteCapacityUnits: number };
  StreamSpecification?: { StreamEnabled: boolean; StreamViewType: string };
  LatestStreamArn?: string; TableArn: string; DeletionProtectionEnabled?: boolean;
  Replicas?: { RegionName: string; ReplicaStatus: string }[];
};
export type TimeToLive = { TimeToLiveStatus?: string; AttributeName?: string };
export type Described = { Table: TableDescription; TimeToLiveDescription: TimeToLive };
/** The table itself (no name) or an index, as what is read. */
export type Pivot = { name: string; KeySchema: KeySchema; items: number; projection?: string };

// Requests and answers of DynamoDB

/** A request: members by name. */
export type Input = { [member: string]: unknown };
/** What requests of any operation may have, as far as a line tells of it. */
export type Asked = { TableName?: string; IndexName?: string; Key?: Item; Item?: Item; KeyConditionExpression?: string; FilterExpression?: string; UpdateExpression?: string;
  ConditionExpression?: string; ExpressionAttributeNames?: Record<string, string>; ExpressionAttributeValues?: Item; Statement?: string;
  RequestItems?: object; TransactItems?: Record<string, { TableName?: string }>[] };
export type Consumed = { CapacityUnits?: number; Table?: { CapacityUnits?: number };
  GlobalSecondaryIndexes?: Record<string, { CapacityUnits?: number }>; LocalSecondaryIndexes?: Record<string, { CapacityUnits?: number }> };
/** Of GetItem, Query, Scan and ExecuteStatement. */
export type Read = { Item?: Item; Items?: Item[]; ScannedCount?: number; LastEvaluatedKey?: Item; NextToken?: string; ConsumedCapacity?: Consumed };
export type WriteRequests = Record<string, { PutRequest: { Item: Item } }[]>;
export type StreamRecord = { eventName: string; userIdentity?: object;
  dynamodb: { Keys: Item; NewImage?: Item; OldImage?: Item; SequenceNumber: string; ApproximateCreationDateTime: number } };
export type Backup = { BackupName: string; BackupArn: string; TableName: string; BackupStatus: string; BackupCreationDateTime: number };
/** Answers by operation; of others nothing is read. */
export type Answers = {
  GetItem: Read; Query: Read; Scan: Read; ExecuteStatement: Read;
  BatchWriteItem: { UnprocessedItems?: WriteRequests };
  DescribeTable: { Table: TableDescription };
  DescribeTimeToLive: { TimeToLiveDescription: TimeToLive };
  "streams.DescribeStream": { StreamDescription: { Shards: { ShardId: string }[] } };
  "streams.GetShardIterator": { ShardIterator: string };
  "streams.GetRecords": { Records: StreamRecord[]; NextShardIterator?: string };
};
export type Answer<Operation extends string> = Operation extends keyof Answers ? Answers[Operation] : Input;
/** What lists of all pages are of, by operation. */
export type Listed = {
  ListTables: string; ListBackups: Backup;
  ListExports: { ExportArn: string; ExportStatus: string }; ListImports: { ImportArn: string; ImportStatus: string };
};

// Answers of the endpoints under /_dynalith/

export type Facts = { auth: string; insight: boolean; iam: boolean };
/** An error of the server, of DynamoDB or of an endpoint. */
export type Refusal = { __type?: string; message?: string; Message?: string; Item?: Item };
export type FaultRule = { [member: string]: unknown };
/** Of reads or writes: units a second, what is left of them and of the burst, and the reasons for which requests were throttled. */
export type Units = { rate: number; left: number; capacity: number; consumed: number; ranges: number; throttled: Record<string, number> };
export type Throughput = { billing: string; read: Units; write: Units; indexes: Record<string, { read: Units; write: Units }> };
export type Counted = FaultRule & { matched: number; fired: number };
export type Finding = { finding: string; severity: string; what: string; evidence?: string; advice?: string; where?: string; units?: number };
export type Pattern = { operation: string; table: string; index?: string; key?: string; filter?: string; update?: string; condition?: string; how?: string; calls: number;
  items_read: number; items_returned: number; read_units: number; write_units: number; latency_ms?: { p99: number }; item_bytes?: { median?: number };
  errors?: Record<string, number>; first?: { caller: string }; last?: { caller: string } };
export type Partition = { partition: string; requests: number; read_units: number; write_units: number };
export type Insight = { requests: number; read_units: number; write_units: number; time?: { age_ms: number }; patterns: Pattern[];
  tables: { table: string; partitions?: Partition[] }[]; findings: Finding[] };
export type Access = { kind: string; table: string; index?: string; key?: string; range?: { attribute: string; operator: string; values?: (Attribute | string)[] }[];
  filter?: string; projection?: string; how?: string; items_read?: number; items_filtered: number; items_returned: number; bytes_read: number; why_scan?: string };
export type Decision = { is_allowed: boolean; action: string; resource: string; principal?: string; effect?: string; policy?: string; sid?: string; document?: string;
  line?: number; why?: string };
export type Better = { operation?: string; index?: string; attribute?: string; why?: string };
export type Plan = { status: number; error?: { type: string; message: string }; read_units?: number; write_units?: number; accesses?: Access[]; better?: Better[];
  findings?: Finding[]; iam?: Decision[]; whole?: { pages: number; is_cut?: boolean; items_read: number; items_returned: number; read_units: number } };
export type Clock = { now: number; iso: string; frozen: boolean; offset: number; expired: number };
export type Named = { name: string; created: number };
export type Sampled = Described & { segments: number; samples: Item[][] };
/** By method and path. */
export type Endpoints = {
  "GET tables": { tables: Described[]; more: boolean };
  "GET clock": Clock; "POST clock": Clock;
  "GET checkpoints": { checkpoints: Named[] }; "GET snapshots": { snapshots: Named[] };
  "GET faults": { rules: Counted[] };
  "GET throughput": { throughput: string; tables?: Record<string, Throughput> };
  "GET lag": { lag?: number; index_lag?: number; jitter?: number };
  "GET conflicts": { conflicts: string };
  "GET namespaces": { namespaces: { account: string; region: string; tables: number }[] };
  "GET replication": { lag_ms: number; partitions: string[][]; queues: { from: string; to: string; changes: number }[] };
  "GET policies": { principals?: { access_key?: string; arn: string }[] };
  "GET insight": Insight; "POST explain": Plan; "POST forecast": Forecast;
};
export type Endpoint<Asked extends string> = Asked extends keyof Endpoints ? Endpoints[Asked] : Asked extends `GET tables/${string}` ? Sampled : Input;
/** A request that was answered: an event of Live. */
export type Event = { id: string; time: number; account: string; region: string; operation: string; caller: string; status: number; error: string; ms: number;
  readUnits: number; writeUnits: number; requestBytes: number; responseBytes: number; request: unknown; response: unknown; fault?: { rule?: number; delayMs: number; isDropped: boolean; isCrcWrong: boolean; pieceBytes: number }; isPast?: boolean };
/** An event that Live shows, and its request as a line. */
export type Shown = Event & { pattern: { table: string; text: string } };
/** Of a refusal: what it says. */
export type Refused = Refusal & { ThrottlingReasons?: { reason: string; resource?: string }[]; CancellationReasons?: { Code?: string; Message?: string }[] };

// The page

/** What an element takes: a node, a text, a number, a list of these, or nothing. */
export type Child = Node | string | number | false | null | undefined | readonly Child[];
type Tag = keyof HTMLElementTagNameMap;
/** The element that "tag.class.class" makes. */
export type Made<What extends string> = What extends Tag ? HTMLElementTagNameMap[What]
  : What extends `${infer Name extends Tag}.${string}` ? HTMLElementTagNameMap[Name] : HTMLElement;
type Handlers = { [Name in keyof HTMLElementEventMap as `on${Name}`]?: (event: HTMLElementEventMap[Name]) => unknown };
type Settable<E> = { [Name in keyof E as Name extends `on${string}` | "style" | "list" ? never : Name]?: E[Name] | null };
type Attributes = { [name: `aria-${string}` | `data-${string}`]: string | number | boolean | null | undefined; style?: Record<string, string>;
  role?: string; for?: string; colspan?: number; list?: string; scope?: string };
export type Props<E> = Handlers & Settable<E> & Attributes;
export type Make = {
  <What extends string>(what: What, props: Props<Made<What>>, ...children: Child[]): Made<What>;
  <What extends string>(what: What, ...children: Child[]): Made<What>;
};
export type Checkbox = HTMLLabelElement & { input: HTMLInputElement };
/** A button of a dialog: text, class, action. An action that gives false keeps the dialog open. */
export type Action = [text: string, kind: string, action?: () => unknown];
/** A line of a grid. */
export type Row = { cells: Child[]; kind?: string; open?: () => unknown; toggle?: () => unknown };
/** Views by name and title, in their order. */
export type Views = readonly (readonly [name: string, title: string, ...unknown[]])[];
/** What a view is opened with: the parts of the address behind its name. */
export type Parts = string[];
/** What a view has to end once another is shown. */
export type End = (() => void) | undefined;
