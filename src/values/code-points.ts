/** The order of texts by code points: that of their UTF-8 bytes, in which databases sort by default. Pure. */

const isSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdfff

/** Compares by code points. JavaScript's `<` compares UTF-16 units, which sorts U+10000 before U+E000. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index += 1) {
    const left = a.charCodeAt(index)
    const right = b.charCodeAt(index)
    if (left === right) continue
    const isAstral = isSurrogate(left)
    if (isAstral === isSurrogate(right)) return left - right
    return isAstral ? 1 : -1
  }
  return a.length - b.length
}
