import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitLines } from '../../../adapters/telephony/kamailio/line-stream.js'
import { createNetstringReader } from '../../../adapters/telephony/kamailio/netstrings.js'
import { recordedLines } from './recorded.js'

const framed = (texts: readonly string[]) =>
  Buffer.from(texts.map((text) => `${Buffer.byteLength(text)}:${text},`).join(''))

function readNetstrings(chunks: Iterable<Buffer>, skipped: string[] = []): string[] {
  const texts: string[] = []
  const { receive } = createNetstringReader(
    (text) => texts.push(text),
    (reason) => skipped.push(reason),
  )
  for (const chunk of chunks) receive(chunk)
  return texts
}
function* cut(bytes: Buffer, places: readonly number[]) {
  const sorted = [0, ...[...places].sort((a, b) => a - b), bytes.length]
  for (let nth = 1; nth < sorted.length; nth += 1) yield bytes.subarray(sorted[nth - 1], sorted[nth])
}
async function allLines(chunks: Iterable<string | Uint8Array>): Promise<string[]> {
  const lines: string[] = []
  for await (const line of splitLines(asynchronous(chunks))) lines.push(line)
  return lines
}
async function* asynchronous<T>(items: Iterable<T>) {
  yield* items
}

describe('netstrings', () => {
  const texts = ['', 'Zoë Ünïcode 👋', '1:a,', ...recordedLines.slice(0, 3)]
  const bytes = framed(texts)

  it('are read from chunks that end anywhere', () => {
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(readNetstrings(cut(bytes, [at]))).toEqual(texts)
      // With an empty chunk.
      expect(readNetstrings(cut(bytes, [at, at]))).toEqual(texts)
    }
    expect(readNetstrings(Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(texts)
  })

  it('are read for any texts and any chunks', () => {
    const places = fc.array(fc.nat(2_000))
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), places, (some, at) => {
        const all = framed(some)
        expect(
          readNetstrings(
            cut(
              all,
              at.filter((place) => place <= all.length),
            ),
          ),
        ).toEqual(some)
      }),
    )
  })

  it('have at most 64 KiB: longer ones are skipped, wherever a chunk ends, and the others are read', () => {
    const longest = 'x'.repeat(65_536)
    expect(readNetstrings([framed([longest])])).toEqual([longest])
    const all = framed(['before', 'y'.repeat(1_048_576), longest, 'z'.repeat(65_537), 'after'])
    for (const size of [all.length, 65_536, 1_000_003]) {
      const skipped: string[] = []
      const chunks = Array.from({ length: Math.ceil(all.length / size) }, (_, nth) =>
        all.subarray(nth * size, (nth + 1) * size),
      )
      expect(readNetstrings(chunks, skipped)).toEqual(['before', longest, 'after'])
      expect(skipped).toEqual([
        'a line of 1048576 bytes is longer than 65536',
        'a line of 65537 bytes is longer than 65536',
      ])
    }
    expect(() => readNetstrings([Buffer.from('16777217:')])).toThrow('a line above 16 MiB')
  })

  it.each([
    ['2:{}x', /does not end with a comma/],
    [':', /not made of netstrings/],
    ['{"event":"invite"}', /not made of netstrings/],
    ['2:{},\n2:{},', /not made of netstrings/],
    ['000000000:', /above 16 MiB/],
  ])('do not include %s', (text, message) => {
    expect(() => readNetstrings([Buffer.from(text)])).toThrow(message)
  })

  it('end with an error, and yield no more than was received, for any bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), (chunks) => {
        let kept = 0
        const onText = (text: string) => {
          kept += text.length
        }
        const { receive } = createNetstringReader(onText, () => {})
        try {
          for (const chunk of chunks) receive(Buffer.from(chunk))
        } catch (thrown) {
          expect((thrown as Error).message).toMatch(/netstring|a line above 16 MiB/)
        }
        expect(kept).toBeLessThanOrEqual(chunks.reduce((sum, { length }) => sum + length, 0))
      }),
    )
  })
})

describe('lines of a stream', () => {
  it('are read from chunks that end anywhere, of bytes and of text', async () => {
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

  it('that end in the middle of a character have U+FFFD there', async () => {
    expect(await allLines([Buffer.from('{}\n{"a":"\xc3', 'latin1')])).toEqual(['{}', '{"a":"\uFFFD'])
  })

  it('above 64 KiB are an error, with or without a line end', async () => {
    const long = 'x'.repeat(65_537)
    await expect(allLines([long])).rejects.toThrow(/longer than 65536/)
    await expect(allLines([`{}\n${long}\n`])).rejects.toThrow(/longer than 65536/)
    expect(await allLines([`${long.slice(1)}\n{}`])).toEqual([long.slice(1), '{}'])
  })
})
