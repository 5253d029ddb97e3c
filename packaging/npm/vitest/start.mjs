import settings from "../settings.cjs";

export default async function (project) {
  const { server, run } = await settings.start(settings.settingsOf(JSON.parse(project.config.provide.dynalithSettings), project.config.root));
  project.provide("dynalith", run);
  return () => server?.stop();
}
