export * from "./in-process.cjs";
