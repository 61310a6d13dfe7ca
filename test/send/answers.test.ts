import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { closeAfterEach, localSender, OK, post, receiver, tryOut } from './hostile.js'

closeAfterEach()

const answer = (head: string, body: string | Buffer = '') =>
  Buffer.concat([Buffer.from(`HTTP/1.1 ${head}\r\n\r\n`, 'latin1'), Buffer.from(body)])

describe('send', () => {
  it('sends method, path, headers and body as they are, and nothing of its own but host, connection and length', async () => {
    const { url, requests, port } = await receiver((socket) => socket.write(OK))
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
    'sends %s with a length of 0 where there is no body',
    async (method) => {
      const { url, requests } = await receiver((socket) => socket.write(OK))
      await localSender().send(post(url, { method, body: '' }))
      expect(requests[0]).toMatch(/content-length: 0\r\n\r\n$/)
    },
  )

  it('gives status, headers as received and the body', async () => {
    const seen = await tryOut((socket) =>
      socket.write(
        answer(
          '201 Made\r\nX-Thing: caf\xe9\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\ncontent-length: 5',
          'h\xe9llo'.slice(0, 4),
        ),
      ),
    )
    expect(seen).toEqual({
      kind: 'response',
      status: 201,
      bodyEnd: 'complete',
      body: 'héll',
      headers: ['X-Thing', 'café', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2', 'content-length', '5'],
    })
  })

  it.each([204, 301, 307, 400, 404, 410, 429, 500, 503, 600, 999])(
    'reports status %i and does nothing more',
    async (status) => {
      const { url, requests, connections } = await receiver((socket) =>
        socket.write(
          answer(
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

  it('keeps at most 8 KiB of a body and says that it is cut', async () => {
    const body = 'x'.repeat(8_193)
    const seen = await tryOut((socket) => socket.write(answer('200 OK\r\ncontent-length: 8193', body)))
    expect(seen).toMatchObject({ status: 200, bodyEnd: 'truncated', body: body.slice(0, 8_192) })
    const whole = await tryOut((socket) =>
      socket.write(answer('200 OK\r\ncontent-length: 8192', body.slice(1))),
    )
    expect(whole).toMatchObject({ bodyEnd: 'complete', body: body.slice(1) })
  })

  it('uses a connection again after a body of up to 64 KiB, and destroys it beyond', async () => {
    const lengths = [65_536, 65_536, 80_000, 10]
    const { url, connections } = await receiver((socket, _, index) => {
      socket.write(answer(`200 OK\r\ncontent-length: ${lengths[index]}`, 'x'.repeat(lengths[index]!)))
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

  it('inflates nothing', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const seen = await tryOut((socket) =>
      socket.write(answer(`200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}`, bomb)),
    )
    expect(seen).toMatchObject({ status: 200, body: bomb.subarray(0, 8_192).toString('utf8') })
  })

  it('replaces what is no UTF-8', async () => {
    const seen = await tryOut((socket) =>
      socket.write(answer('200 OK\r\ncontent-length: 3', Buffer.from([0x61, 0xff, 0x62]))),
    )
    expect(seen).toMatchObject({ body: 'a\ufffdb' })
  })

  it('reads chunked bodies, trailers and answers of HTTP/1.0 that end with the connection', async () => {
    const chunked = '200 OK\r\ntransfer-encoding: chunked'
    expect(
      await tryOut((socket) =>
        socket.write(answer(chunked, '3\r\nabc\r\n1;x=y\r\nd\r\n0\r\nx-late: 1\r\n\r\n')),
      ),
    ).toMatchObject({ body: 'abcd', bodyEnd: 'complete' })
    expect(await tryOut((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nto the end'))).toMatchObject({
      body: 'to the end',
      bodyEnd: 'complete',
    })
  })

  it('passes over a few interim answers', async () => {
    const seen = await tryOut((socket) =>
      socket.write(`HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 102 Wait\r\n\r\n${OK}`),
    )
    expect(seen).toMatchObject({ kind: 'response', status: 200, body: 'ok' })
  })

  it('takes an answer that comes before the body was read', async () => {
    const { url } = await receiver(
      () => {},
      (socket) =>
        socket.once('data', () =>
          socket.end('HTTP/1.1 413 Too large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
        ),
    )
    const seen = await localSender().send(post(url, { body: 'x'.repeat(64 * 1024) }))
    expect(seen).toMatchObject({ kind: 'response', status: 413 })
  })
})
