export interface Clock {
  /** Seconds, or a text such as "90m". */
  advance(by: number | string): Promise<unknown>;
  /** ISO 8601 or seconds since 1970. */
  set(to: number | string, freeze?: boolean): Promise<unknown>;
  freeze(freeze?: boolean): Promise<unknown>;
}

/** The rules by which requests of a namespace fail; docs/testing.md of the server describes them. */
export interface Faults {
  set(...rules: Record<string, unknown>[]): Promise<unknown>;
  /** How often each rule has fired. */
  fired(): Promise<number[]>;
  clear(): Promise<unknown>;
}

/** The tables of an account in a region. Namespaces of one server do not see each other. */
export declare class Namespace {
  constructor(url: string, account?: string | number, region?: string);
  readonly url: string;
  readonly account: string;
  readonly region: string;
  readonly clock: Clock;
  readonly faults: Faults;
  /** What a client of the SDK is made with: new DynamoDBClient(namespace.config). */
  readonly config: { endpoint: string; region: string; credentials: { accessKeyId: string; secretAccessKey: string } };
  /** Calls an endpoint under /_dynalith/ for this namespace. */
  control(method: string, path: string, body?: unknown): Promise<any>;
  reset(what?: { keep?: "tables"; tables?: string[] }): Promise<unknown>;
  checkpoint(name: string): Promise<unknown>;
  rollback(name: string): Promise<unknown>;
  forget(name: string): Promise<unknown>;
  /** Makes the tables and items of templates, plans, exports, CSV: whatever `dynalith apply` reads. */
  apply(...files: string[]): Promise<void>;
}

/** A server, and its default namespace. */
export declare class Dynalith extends Namespace {
  /** Starts one on a free port of 127.0.0.1, in memory; it ends with this process, also where this process is killed. */
  static start(...options: string[]): Promise<Dynalith>;
  readonly pid: number;
  namespace(account: string | number, region?: string): Namespace;
  /** What the server has written to its log, from that byte on. */
  log(start?: number): string;
  stop(): Promise<void>;
}

export declare function findBinary(): string;

/** What a client of the SDK is made with, in a run of races(). */
export interface RaceConfig { endpoint: string; region: string; credentials: { accessKeyId: string; secretAccessKey: string }; userAgentAppId?: string }

export interface RaceOptions {
  /** Before the clients of each run, on a server without tables. */
  before?(config: RaceConfig): unknown;
  /** Behind them: throws where something is wrong. */
  check?(config: RaceConfig): unknown;
  budget?: number; seed?: number; replays?: number; quietMs?: number;
  /** Files and folders, as for `dynalith races`. */
  order?: string; out?: string; html?: string; invariants?: string; init?: string;
  lostAnswers?: boolean; throttling?: boolean; conflicts?: boolean; lag?: boolean; ttl?: boolean;
}

/** Runs the clients at once, again and again, each time with another order of their requests. Throws an error with an order that fails; else says what was tried. */
export declare function races(...clients: [...((config: RaceConfig) => unknown)[], RaceOptions] | ((config: RaceConfig) => unknown)[]): Promise<string>;

declare global {
  /** In tests under the presets for Jest and Vitest: this worker's tables. */
  var dynalith: Namespace;
}
