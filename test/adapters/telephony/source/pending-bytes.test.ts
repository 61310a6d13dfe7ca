import { expect, it } from 'vitest'
import { createPendingBytes } from '../../../../adapters/telephony/source/pending-bytes.js'

it('a large buffer is released with its message, and its rest is kept', () => {
  const bytes = createPendingBytes()
  bytes.append(Buffer.alloc(600_000, 'a'))
  const all = bytes.append(Buffer.from('the rest'))
  bytes.keepLast(8)
  const next = bytes.append(Buffer.from('!'))
  expect([next.toString(), next.buffer.byteLength < 300_000]).toEqual(['the rest!', true])
  expect([all.length, all.subarray(-8).toString()]).toEqual([600_008, 'the rest'])
})
