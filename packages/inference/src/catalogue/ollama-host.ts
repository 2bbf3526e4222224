/**
 * The URL that `OLLAMA_HOST` names, by Ollama's own rules. Without a scheme: `http` and port 11434. With a scheme but
 * no port: the scheme's port. Without a host: this machine. Null where it is no address.
 */
export function ollamaUrl(text: string): URL | null {
  const [, scheme, address = ''] = /^(?:(https?):\/\/)?(.*)$/is.exec(text.trim()) ?? [];
  const [authority = ''] = address.split(/[/?#]/, 1);
  const rest = address.slice(authority.length);
  const bare = /^[^[\]]*:[^[\]]*:/.test(authority) ? `[${authority}]` : authority;
  const host = bare === '' || bare.startsWith(':') ? `127.0.0.1${bare}` : bare;
  const port = scheme === undefined && !/:\d+$/.test(host) ? ':11434' : '';
  const url = `${scheme ?? 'http'}://${host}${port}${rest}`;
  return URL.canParse(url) ? new URL(url) : null;
}
