/** SHA-1 (FIPS 180-4) for the digest of a login: browsers compute it on secure origins only. Pure. */

const rotate = (word: number, bits: number) => (word << bits) | (word >>> (32 - bits))

/** @returns 40 hex digits */
export function sha1(bytes: Uint8Array): string {
  const padded = new Uint8Array(((bytes.length + 72) >> 6) << 6)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 0x2000_0000))
  view.setUint32(padded.length - 4, bytes.length << 3)
  const hash = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]
  const words = new Int32Array(80)
  for (let block = 0; block < padded.length; block += 64) {
    let [a, b, c, d, e] = hash as [number, number, number, number, number]
    for (let index = 0; index < 80; index += 1) {
      words[index] =
        index < 16
          ? view.getInt32(block + index * 4)
          : rotate(words[index - 3]! ^ words[index - 8]! ^ words[index - 14]! ^ words[index - 16]!, 1)
      const [mixed, constant] =
        index < 20
          ? [(b & c) | (~b & d), 0x5a827999]
          : index < 40
            ? [b ^ c ^ d, 0x6ed9eba1]
            : index < 60
              ? [(b & c) | (b & d) | (c & d), 0x8f1bbcdc]
              : [b ^ c ^ d, 0xca62c1d6]
      const next = (rotate(a, 5) + mixed + e + constant + words[index]!) | 0
      e = d
      d = c
      c = rotate(b, 30)
      b = a
      a = next
    }
    for (const [index, word] of [a, b, c, d, e].entries()) hash[index] = (hash[index]! + word) | 0
  }
  return hash.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}
