/** Hides the password of a URL, for output. */

const REDACTED = '[redacted]'
/** Names of parameters whose value is a password, as in `postgres://db/calls?user=u&password=p`. */
const SECRET_NAME = /pass|secret|token|key/i
/** The value is the name of a variable. */
const VARIABLE_NAME = /password-env/i

/** Text without `://` and without `@` has no password. Everything up to the last `@` may contain one, also an unescaped `/`. */
export function redactUrl(text: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)?(.*)$/is.exec(text) ?? []
  const at = rest.lastIndexOf('@')
  const colon = rest.indexOf(':')
  const isPassword = at >= 0 && colon >= 0 && colon < at
  const plain = isPassword ? `${rest.slice(0, colon)}:${REDACTED}${rest.slice(at)}` : rest
  return scheme + plain.split('&').map(hideSecret).join('&')
}

/** Parameters are separated by `&`; a text with several question marks has one behind each of them too. */
function hideSecret(text: string, index: number): string {
  const parts = text.split('?')
  const secretAt = parts.findIndex((part, at) => index + at > 0 && isSecret(part))
  if (secretAt < 0) return text
  const [name = ''] = parts[secretAt]!.split('=', 1)
  return [...parts.slice(0, secretAt), `${name}=${REDACTED}`].join('?')
}

function isSecret(parameter: string): boolean {
  const [name = ''] = parameter.split('=', 1)
  return name !== parameter && SECRET_NAME.test(name) && !VARIABLE_NAME.test(name)
}
