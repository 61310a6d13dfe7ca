/** A request as a curl command that a shell can run. Pure. */

interface CurlRequest {
  readonly method: string
  readonly uri: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** The value that the service records in place of a secret. */
const REDACTED = '[redacted]'

/** curl computes these itself. */
const COMPUTED = new Set(['content-length', 'host', 'connection', 'transfer-encoding', 'accept-encoding'])

/** Redacted values become variables of the shell: `$AUTHORIZATION`. */
export function curlCommand({ method, uri, headers, body }: CurlRequest): string {
  const lines = [`curl -X ${quote(method.toUpperCase())} ${quote(uri)}`]
  for (const [name, value] of Object.entries(headers)) {
    if (COMPUTED.has(name.toLowerCase())) continue
    lines.push(
      `-H ${value === REDACTED ? `${quote(`${name}: `)}"$${variable(name)}"` : quote(`${name}: ${value}`)}`,
    )
  }
  if (body !== undefined && body !== '') lines.push(`--data-raw ${quote(body)}`)
  return lines.join(' \\\n  ')
}

/** Between single quotes a shell interprets nothing; an argument cannot contain NUL. @internal */
export function quote(text: string): string {
  return `'${text.replaceAll('\0', '').replaceAll("'", "'\\''")}'`
}

function variable(name: string): string {
  const word = name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
  return /^[0-9]/.test(word) ? `_${word}` : word
}
