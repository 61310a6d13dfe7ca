/** The forms in which a secret would be as good as itself, and where they are found. */

const reversed = (text: string) => [...text].reverse().join('')

/** What a reader could take a secret from: as it is, escaped, in hex, in base64 at any of its three offsets. */
export function formsOf(secret: string): readonly Buffer[] {
  const bytes = Buffer.from(secret)
  const inBase64 = [0, 1, 2].flatMap((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    // The digits that depend on neighbours are left out.
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

/** "name in place" for every secret of which a form stands in the bytes of a place. */
export function found(
  secrets: Readonly<Record<string, string>>,
  places: Readonly<Record<string, Buffer>>,
): readonly string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    Object.entries(places)
      .filter(([, bytes]) => formsOf(secret).some((form) => bytes.includes(form)))
      .map(([place]) => `${name} in ${place}`),
  )
}
