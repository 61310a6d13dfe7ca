/** Hides the password of a URL, for output. */

const REDACTED = '[redacted]'
/** Parameters of a URL whose value is a password, as in `postgres://db/calls?user=u&password=p`. */
const SECRET_PARAMETER = /([?&][^=&]*(?:pass|secret|token|key)[^=&]*=)[^&]*/gi

/** Text without `://` and without `@` has no password. Everything up to the last `@` may contain one, also an unescaped `/`. */
export function redactUrl(text: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)?(.*)$/is.exec(text) ?? []
  const at = rest.lastIndexOf('@')
  const colon = rest.indexOf(':')
  const isPassword = at >= 0 && colon >= 0 && colon < at
  const plain = isPassword ? `${rest.slice(0, colon)}:${REDACTED}${rest.slice(at)}` : rest
  return `${scheme}${plain.replace(SECRET_PARAMETER, (whole, name: string) => (name.toLowerCase().includes('password-env') ? whole : name + REDACTED))}`
}
