import all from "./index.cjs";

export const { Dynalith, Namespace, findBinary, races } = all;
