import all from "./in-process.cjs";

export const { inProcess, InProcess, DynalithError, races } = all;
