import { Dynalith } from "../index.mjs";

export default async function (project) {
  const server = await Dynalith.start(...JSON.parse(process.env.DYNALITH_RUN_OPTIONS ?? "[]"));
  project.provide("dynalith", { url: server.url, logPath: server.logPath });
  return () => server.stop();
}
