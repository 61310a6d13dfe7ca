/**
 * A text as a number for an index: 53 bits of two FNV-1a hashes. Texts of one number are told apart by themselves.
 * Part of the schema: written into files.
 */
export function textKey(text: string): number {
  let low = 0x811c9dc5
  let high = 0x01000193
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    low = Math.imul(low ^ unit, 0x01000193)
    high = Math.imul(high ^ unit, 0x85ebca6b)
  }
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0)
}
