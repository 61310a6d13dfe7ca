import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { MAX_BODY_BYTES } from 'hookswitch/adapter'
import { expect, it } from 'vitest'
import { drainRequest, readNodeBody } from '../../../adapters/http/node-body.js'
import { admitBody } from '../../../adapters/http/request-record.js'

/** A request whose client sends `bytes` zeros in chunks of 64 KiB; `sent` counts those that were read. */
function requestOf(bytes: number) {
  let sent = 0
  const stream = new Readable({
    read() {
      const size = Math.min(65_536, bytes - sent)
      sent += size
      this.push(size === 0 ? null : Buffer.alloc(size))
    },
  })
  const req = Object.assign(stream, {
    httpVersionMajor: 1,
    headers: { 'transfer-encoding': 'chunked' },
  }) as unknown as IncomingMessage
  return { req, sent: () => sent }
}

const admit = () =>
  admitBody(
    { handle: async () => ({ status: 200, headers: {}, body: '' }), handlesPath: () => true },
    { method: 'PUT', url: '/', headers: {} },
  )

it('a body of exactly the limit is read, one byte more is too large', async () => {
  const atLimit = await readNodeBody(requestOf(MAX_BODY_BYTES).req, 30_000, admit)
  expect(atLimit).not.toBe('aborted')
  expect(atLimit).toMatchObject({ body: { length: MAX_BODY_BYTES } })
  expect(await readNodeBody(requestOf(MAX_BODY_BYTES + 1).req, 30_000, admit)).toEqual({
    bodyProblem: 'too_large',
  })
})

it('a client that does not stop sending after its body was rejected is read for 8 MiB at most', async () => {
  const { req, sent } = requestOf(64 * MAX_BODY_BYTES)
  await drainRequest(req)
  expect(sent()).toBeGreaterThan(8 * MAX_BODY_BYTES)
  expect(sent()).toBeLessThan(9 * MAX_BODY_BYTES)
  expect(req.isPaused()).toBe(true)
})
