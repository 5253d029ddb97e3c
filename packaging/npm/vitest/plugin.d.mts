import "../index.mjs"; // the global `dynalith` of tests

interface Schema {
  /** Templates, exports or folders of them, whose tables and items each file of tests begins with; paths are below the project's root. */
  schema?: string | string[];
}

/** One server for the run, and tables of its own for each worker. The default. */
export interface ServerSettings extends Schema {
  engine?: "server";
  /** Options of the server, such as ["--throughput", "enforce"]. */
  options?: string[];
}

/** No process and no port: an engine of its own in each file of tests. Clients get it by dynalith.config or dynalith.requestHandler. */
export interface InProcessSettings extends Schema {
  engine: "in-process";
  /** Options of the server by their names in its configuration file, such as { throughput: "enforce" }. */
  options?: Record<string, unknown>;
  /** As in dynalith/in-process. */
  memoryLimitMb?: number;
}

/** A plugin for Vitest, whose tests have the global `dynalith`; what a test changes is rolled back after it. */
export default function dynalith(settings: ServerSettings | InProcessSettings): { name: string };
export default function dynalith(...options: string[]): { name: string };
