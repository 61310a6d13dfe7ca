/**
 * The zone of an origin: its registrable domain, or its address, and its port. Receivers in one zone probably share
 * servers and name servers, so one of them says something about the others.
 *
 * Without a list of public suffixes the registrable domain is a guess: the last two labels, or three below a country
 * code with a short second level (`example.co.uk`). All names below `localhost` are one zone. A wrong guess makes a zone too large or too small, never invalid.
 *
 * @param origin scheme, host and port, as `originOf` returns it
 */
export function zoneOf(origin: string): string {
  const [, scheme = '', host = origin, port] =
    /^(https?):\/\/(\[[^\]]*\]|[^:]*)(?::(\d+))?$/i.exec(origin) ?? []
  const suffix = `:${port ?? (scheme.toLowerCase() === 'http' ? '80' : '443')}`
  if (host.startsWith('[') || /^[\d.]+$/.test(host)) return host + suffix
  const labels = host.toLowerCase().replace(/\.$/, '').split('.')
  const [second = '', top = ''] = labels.slice(-2)
  if (top === 'localhost') return top + suffix
  return labels.slice(top.length === 2 && second.length <= 3 ? -3 : -2).join('.') + suffix
}
