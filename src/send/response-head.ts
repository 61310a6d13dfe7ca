/**
 * Decodes the headers of responses. A receiver repeats its response head within a second, so the last decoded one of an
 * origin is kept: comparing is cheaper than decoding, and the attempts share one list instead of a list of new strings
 * each.
 */
export class ResponseHeadDecoder {
  private last: readonly string[] = []

  /** Decodes a flat list of names and values as latin1. The result is frozen, since it may be returned again. */
  decode(rawHeaders: readonly Buffer[]): readonly string[] {
    if (!isEncoded(this.last, rawHeaders)) {
      this.last = Object.freeze(rawHeaders.map((bytes) => bytes.toString('latin1')))
    }
    return this.last
  }
}

/** Whether `encoded` are the latin1 bytes of `texts`. */
function isEncoded(texts: readonly string[], encoded: readonly Buffer[]): boolean {
  if (texts.length !== encoded.length) return false
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index]!
    const bytes = encoded[index]!
    if (text.length !== bytes.length) return false
    for (let at = 0; at < bytes.length; at++) if (text.charCodeAt(at) !== bytes[at]) return false
  }
  return true
}
