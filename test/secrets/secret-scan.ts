/** Encodings in which a secret is still usable, and the search for them. */

const reversed = (text: string) => [...text].reverse().join('')

/** Every usable encoding of a secret: plain, escaped, reversed, hex, and base64 at each of its three offsets. */
export function encodedForms(secret: string): readonly Buffer[] {
  const bytes = Buffer.from(secret)
  const inBase64 = [0, 1, 2].flatMap((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    // Without the digits that depend on neighbouring bytes.
    const inner = whole
      .slice(Math.ceil((offset * 4) / 3) + (offset > 0 ? 1 : 0))
      .replace(/=*$/, '')
      .slice(0, -1)
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')]
  })
  const texts = [
    secret,
    encodeURIComponent(secret),
    encodeURIComponent(encodeURIComponent(secret)),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    reversed(secret),
    ...inBase64,
  ]
  return [...texts.map((text) => Buffer.from(text)), Buffer.from(secret, 'utf16le')].filter(
    ({ length }) => length >= 6,
  )
}

/** "name in place" for every secret that occurs in a place in any encoding. */
export function findSecrets(
  secrets: Readonly<Record<string, string>>,
  places: Readonly<Record<string, Buffer>>,
): readonly string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    Object.entries(places)
      .filter(([, bytes]) => encodedForms(secret).some((form) => bytes.includes(form)))
      .map(([place]) => `${name} in ${place}`),
  )
}
