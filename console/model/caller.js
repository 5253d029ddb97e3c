// Who called: the program of a whole User-Agent. Nothing here needs a browser.

const PRODUCT = /^[^\s/]+\/v?\d\S*(?=\s|$)/, APP = /(?:^|\s)(app\/\S+)/, BROWSER = /\b(?:Firefox|Edg|OPR|Chrome|Version)\/\d\S*/;

/**
 * "Boto3/1.44.5 app/orders" of an SDK's User-Agent, whose rest differs from call to call; a name of another form (the header x-dynalith-caller) is as it is.
 * @param {string} caller
 */
export function programOf(caller) {
  const [product] = PRODUCT.exec(caller) ?? [], app = APP.exec(caller)?.[1];
  if (!product) return caller;
  const name = product.startsWith("Mozilla/") ? BROWSER.exec(caller)?.[0] ?? product : product;
  return app && app !== name ? `${name} ${app}` : name;
}

/** Programs, each once, with the whole names that are of it. @param {readonly (string | undefined)[]} callers */
export function programs(callers) {
  const found = /** @type {Map<string, Set<string>>} */ (new Map());
  for (const caller of callers) if (caller) found.set(programOf(caller), (found.get(programOf(caller)) ?? new Set()).add(caller));
  return [...found].map(([name, whole]) => ({ name, whole: [...whole] }));
}
