import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { cleanUpAfterEach, localSender, OK, post, sendTo, startReceiver } from './harness.js'

cleanUpAfterEach()

const response = (head: string, body: string | Buffer = '') =>
  Buffer.concat([Buffer.from(`HTTP/1.1 ${head}\r\n\r\n`, 'latin1'), Buffer.from(body)])

describe('send', () => {
  it('sends method, path, headers and body unchanged, and adds only host, connection and content-length', async () => {
    const { url, requests, port } = await startReceiver((socket) => socket.write(OK))
    const sender = localSender()
    await sender.send(
      post(`${url}?a=1&b=%20`, { headers: ['X-One', '1', 'x-two', 'zwei'], body: '{"ä":"€"}' }),
    )
    await sender.send(post(url, { method: 'GET', headers: [], body: undefined }))
    await sender.send(post(url, { method: 'DELETE', headers: [], body: undefined }))
    const host = `host: 127.0.0.1:${port}\r\nconnection: keep-alive\r\n`
    expect(requests).toEqual([
      `POST /hook?a=1&b=%20 HTTP/1.1\r\n${host}X-One: 1\r\nx-two: zwei\r\ncontent-length: 12\r\n\r\n${Buffer.from('{"ä":"€"}').toString('latin1')}`,
      `GET /hook HTTP/1.1\r\n${host}\r\n`,
      `DELETE /hook HTTP/1.1\r\n${host}\r\n`,
    ])
  })

  it.each(['POST', 'PUT', 'PATCH'] as const)(
    'sends %s with content-length 0 when the body is empty',
    async (method) => {
      const { url, requests } = await startReceiver((socket) => socket.write(OK))
      await localSender().send(post(url, { method, body: '' }))
      expect(requests[0]).toMatch(/content-length: 0\r\n\r\n$/)
    },
  )

  it('returns status, headers as received and body', async () => {
    const observation = await sendTo((socket) =>
      socket.write(
        response(
          '201 Made\r\nX-Thing: caf\xe9\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\ncontent-length: 5',
          'h\xe9llo'.slice(0, 4),
        ),
      ),
    )
    expect(observation).toEqual({
      kind: 'response',
      status: 201,
      bodyEnd: 'complete',
      body: 'héll',
      headers: ['X-Thing', 'café', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2', 'content-length', '5'],
    })
  })

  it.each([204, 301, 307, 400, 404, 410, 429, 500, 503, 600, 999])(
    'reports status %i and does nothing else',
    async (status) => {
      const { url, requests, connections } = await startReceiver((socket) =>
        socket.write(
          response(
            `${status} X\r\nlocation: /elsewhere\r\nretry-after: 1${status === 204 ? '' : '\r\ncontent-length: 0'}`,
          ),
        ),
      )
      expect(await localSender().send(post(url))).toMatchObject({
        kind: 'response',
        status,
        bodyEnd: 'complete',
      })
      expect([requests.length, connections.length]).toEqual([1, 1])
    },
  )

  it('keeps at most 8 KiB of a body and reports the truncation', async () => {
    const body = 'x'.repeat(8_193)
    const observation = await sendTo((socket) =>
      socket.write(response('200 OK\r\ncontent-length: 8193', body)),
    )
    expect(observation).toMatchObject({ status: 200, bodyEnd: 'truncated', body: body.slice(0, 8_192) })
    const whole = await sendTo((socket) =>
      socket.write(response('200 OK\r\ncontent-length: 8192', body.slice(1))),
    )
    expect(whole).toMatchObject({ bodyEnd: 'complete', body: body.slice(1) })
  })

  it('reuses a connection after a body of up to 64 KiB, and destroys it after a longer one', async () => {
    const lengths = [65_536, 65_536, 80_000, 10]
    const { url, connections } = await startReceiver((socket, _, index) => {
      socket.write(response(`200 OK\r\ncontent-length: ${lengths[index]}`, 'x'.repeat(lengths[index]!)))
    })
    const sender = localSender()
    for (const length of lengths) {
      expect(await sender.send(post(url))).toMatchObject({
        status: 200,
        bodyEnd: length > 8_192 ? 'truncated' : 'complete',
      })
    }
    expect(connections).toHaveLength(2)
  })

  it('does not decompress bodies', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const observation = await sendTo((socket) =>
      socket.write(response(`200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}`, bomb)),
    )
    expect(observation).toMatchObject({ status: 200, body: bomb.subarray(0, 8_192).toString('utf8') })
  })

  it('replaces invalid UTF-8', async () => {
    const observation = await sendTo((socket) =>
      socket.write(response('200 OK\r\ncontent-length: 3', Buffer.from([0x61, 0xff, 0x62]))),
    )
    expect(observation).toMatchObject({ body: 'a\ufffdb' })
  })

  it('reads chunked bodies, trailers and HTTP/1.0 responses that end with the connection', async () => {
    const chunked = '200 OK\r\ntransfer-encoding: chunked'
    expect(
      await sendTo((socket) =>
        socket.write(response(chunked, '3\r\nabc\r\n1;x=y\r\nd\r\n0\r\nx-late: 1\r\n\r\n')),
      ),
    ).toMatchObject({ body: 'abcd', bodyEnd: 'complete' })
    expect(await sendTo((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nto the end'))).toMatchObject({
      body: 'to the end',
      bodyEnd: 'complete',
    })
  })

  it('skips a few interim responses', async () => {
    const observation = await sendTo((socket) =>
      socket.write(`HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 102 Wait\r\n\r\n${OK}`),
    )
    expect(observation).toMatchObject({ kind: 'response', status: 200, body: 'ok' })
  })

  it('accepts a response that arrives before the request body was read', async () => {
    const { url } = await startReceiver(
      () => {},
      (socket) =>
        socket.once('data', () =>
          socket.end('HTTP/1.1 413 Too large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
        ),
    )
    const observation = await localSender().send(post(url, { body: 'x'.repeat(64 * 1024) }))
    expect(observation).toMatchObject({ kind: 'response', status: 413 })
  })
})
