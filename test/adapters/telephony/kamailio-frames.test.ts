import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { linesOf } from '../../../adapters/telephony/kamailio/line-stream.js'
import { netstrings } from '../../../adapters/telephony/kamailio/netstrings.js'
import { recordedLines } from './recorded.js'

const framed = (texts: readonly string[]) =>
  Buffer.from(texts.map((text) => `${Buffer.byteLength(text)}:${text},`).join(''))

function heard(chunks: Iterable<Buffer>): string[] {
  const texts: string[] = []
  const { receive } = netstrings((text) => texts.push(text))
  for (const chunk of chunks) receive(chunk)
  return texts
}
function* cut(bytes: Buffer, places: readonly number[]) {
  const sorted = [0, ...[...places].sort((a, b) => a - b), bytes.length]
  for (let nth = 1; nth < sorted.length; nth += 1) yield bytes.subarray(sorted[nth - 1], sorted[nth])
}
async function allLines(chunks: Iterable<string | Uint8Array>): Promise<string[]> {
  const lines: string[] = []
  for await (const line of linesOf(asynchronous(chunks))) lines.push(line)
  return lines
}
async function* asynchronous<T>(items: Iterable<T>) {
  yield* items
}

describe('netstrings', () => {
  const texts = ['', 'Zoë Ünïcode 👋', '1:a,', ...recordedLines.slice(0, 3)]
  const bytes = framed(texts)

  it('are found wherever they are cut', () => {
    for (let at = 0; at <= bytes.length; at += 1) expect(heard(cut(bytes, [at]))).toEqual(texts)
    expect(heard(Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(texts)
  })

  it('are found in any texts and any pieces', () => {
    const places = fc.array(fc.nat(2_000))
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), places, (some, at) => {
        const all = framed(some)
        expect(
          heard(
            cut(
              all,
              at.filter((place) => place <= all.length),
            ),
          ),
        ).toEqual(some)
      }),
    )
  })

  it('may be of 64 KiB, and not a byte longer', () => {
    const longest = 'x'.repeat(65_536)
    expect(heard([framed([longest])])).toEqual([longest])
    expect(() => heard([Buffer.from('65537:')])).toThrow(/longer than 65536 bytes/)
  })

  it.each([
    ['2:{}x', /does not end with a comma/],
    [':', /no netstrings/],
    ['{"event":"invite"}', /no netstrings/],
    ['2:{},\n2:{},', /no netstrings/],
    ['000000:', /longer than 65536/],
  ])('are not %s', (text, message) => {
    expect(() => heard([Buffer.from(text)])).toThrow(message)
  })

  it('end with an error, and keep little, whatever comes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), (chunks) => {
        let kept = 0
        const { receive } = netstrings((text) => {
          kept += text.length
        })
        try {
          for (const chunk of chunks) receive(Buffer.from(chunk))
        } catch (thrown) {
          expect((thrown as Error).message).toMatch(/netstring|line is longer/)
        }
        expect(kept).toBeLessThanOrEqual(chunks.reduce((sum, { length }) => sum + length, 0))
      }),
    )
  })
})

describe('lines of a stream', () => {
  it('are found wherever they are cut, in bytes and in texts', async () => {
    const lines = ['{"a":"Zoë 👋"}', '{}', ...recordedLines.slice(0, 2)]
    const bytes = Buffer.from(`${lines[0]}\r\n\n${lines.slice(1).join('\n')}`)
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(await allLines(cut(bytes, [at]))).toEqual(lines)
    }
    const text = bytes.toString()
    for (let at = 0; at <= text.length; at += 50) {
      expect(await allLines([text.slice(0, at), text.slice(at)])).toEqual(lines)
    }
  })

  it('that end in the middle of a character are no worse than that', async () => {
    expect(await allLines([Buffer.from('{}\n{"a":"\xc3', 'latin1')])).toEqual(['{}', '{"a":"\uFFFD'])
  })

  it('above 64 KiB are an error, with or without an end', async () => {
    const long = 'x'.repeat(65_537)
    await expect(allLines([long])).rejects.toThrow(/longer than 65536/)
    await expect(allLines([`{}\n${long}\n`])).rejects.toThrow(/longer than 65536/)
    expect(await allLines([`${long.slice(1)}\n{}`])).toEqual([long.slice(1), '{}'])
  })
})
