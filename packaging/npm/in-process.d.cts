import { Namespace, RaceConfig, RaceOptions } from "./index.cjs";

/** What goes wrong outside of the API; errors of the API are the SDK's. */
export declare class DynalithError extends Error {
  /** ERR_DYNALITH_OPTIONS, _CLOSED, _DEAD (the engine has failed; its data is gone), _FILE (not written), _MEMORY, _REQUEST, _CONTROL, _SDK, _APPLY */
  readonly code: string;
}

export interface InProcessOptions {
  /** A data file of the server: where it is there the instance begins with its data, and close() and save() write it. */
  file?: string;
  /** MB for data, requests and vectors together; beyond it the API answers errors. 256 to 4096, 512 by default. */
  memoryLimitMb?: number;
  account?: string | number;
  region?: string;
  /** Options of the server by their names in its configuration file, such as { throughput: "enforce" }. */
  options?: Record<string, unknown>;
  /** Gets each line of the log, as JSON. */
  log?: (line: string) => void;
}

// The SDK may not be installed: its types are then any.
// @ts-ignore
type Client = import("@aws-sdk/client-dynamodb").DynamoDBClient;
// @ts-ignore
type ClientConfig = import("@aws-sdk/client-dynamodb").DynamoDBClientConfig;
// @ts-ignore
type DocumentClient = import("@aws-sdk/lib-dynamodb").DynamoDBDocumentClient;
// @ts-ignore
type TranslateConfig = import("@aws-sdk/lib-dynamodb").TranslateConfig;

/** Fits the option requestHandler of the AWS SDK v3. */
export interface RequestHandler {
  readonly metadata: { handlerProtocol: string };
  handle(request: any, options?: any): Promise<{ response: any }>;
  updateHttpClientConfig(key: any, value: any): void;
  httpHandlerConfigs(): any;
  destroy(): void;
}

/** DynamoDB in this process, with the tables of one account in one region. */
export declare class InProcess extends Namespace {
  constructor(options?: InProcessOptions);
  readonly requestHandler: RequestHandler;
  readonly config: Namespace["config"] & { requestHandler: RequestHandler };
  /** Of the installed @aws-sdk/client-dynamodb. */
  client(config?: ClientConfig): Client;
  /** Of the installed @aws-sdk/lib-dynamodb. */
  documentClient(config?: TranslateConfig): DocumentClient;
  readonly fetch: typeof globalThis.fetch;
  readonly memoryBytes: number;
  /** All data of all namespaces as a data file, which a server opens. */
  export(): Promise<Uint8Array>;
  /** Puts the data of a data file, as export() gives it, in the place of all data; checkpoints and the clock are new. ERR_DYNALITH_OPTIONS for other bytes. */
  import(bytes: Uint8Array): Promise<void>;
  /** Writes export() to a file; without one to that of the option file. ERR_DYNALITH_FILE where a server has it open or another process has changed it. */
  save(file?: string): Promise<void>;
  /** Ends it; calls from then on fail. Saves the option file before, and leaves the instance open where save() fails. */
  close(): Promise<void>;
}

export declare function inProcess(options?: InProcessOptions): InProcess;

/** A client's config in a run of races(), whose requests go to an engine in this process. */
export interface InProcessRaceConfig extends RaceConfig { requestHandler: RequestHandler }
export interface InProcessRaceOptions extends Omit<RaceOptions, "before" | "check"> {
  before?(config: InProcessRaceConfig): unknown;
  check?(config: InProcessRaceConfig): unknown;
}

/** races() of the package, with a new engine in this process for each run. The orders are searched by `dynalith races`, so the server's program must be there, too. */
export declare function races(...clients: [...((config: InProcessRaceConfig) => unknown)[], InProcessRaceOptions] | ((config: InProcessRaceConfig) => unknown)[]): Promise<string>;
