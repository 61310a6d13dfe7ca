import { once } from 'node:events'
import { gate, status, until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { dial, fetchText, startReceiver } from './receiver-client.js'

describe('requests of a connection', () => {
  it('are read from chunked bodies in pieces, and pipelined', async () => {
    const receiver = await startReceiver()
    const socket = dial(receiver)
    const head = 'POST /chunked HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n'
    for (const piece of [
      head.slice(0, 10),
      `${head.slice(10)}3;ext=1\r\nab`,
      'c\r\n2\r\nde',
      '\r\n0\r\ntrailer: x\r\n',
      '\r\n',
    ]) {
      socket.write(piece)
      await new Promise((resolve) => setImmediate(resolve))
    }
    socket.write('GET /second HTTP/1.1\r\n\r\nGET /third HTTP/1.0\r\n\r\n')
    const requests = await receiver.next(3)
    expect(requests.map(({ path, body, connection }) => [path, body, connection])).toEqual([
      ['/chunked', 'abcde', 1],
      ['/second', '', 1],
      ['/third', '', 1],
    ])
    socket.destroy()
  })

  it('are answered one at a time', async () => {
    const receiver = await startReceiver()
    const held = gate(status(201))
    receiver.on('/first', [held])
    const socket = dial(receiver)
    let received = ''
    socket.on('data', (text) => {
      received += text
    })
    socket.write('GET /first HTTP/1.1\r\n\r\nGET /second HTTP/1.1\r\n\r\n')
    await receiver.next(2)
    expect(received).toBe('')
    held.release()
    await until(() => received.match(/HTTP/g)?.length === 2)
    expect(received.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 201', 'HTTP/1.1 200'])
    socket.destroy()
  })

  it('are answered with 400 if they are not HTTP, and the receiver keeps running', async () => {
    const receiver = await startReceiver()
    for (const junk of [
      'HELO mail\r\n\r\n',
      'GET / HTTP/1.1\r\nno colon\r\n\r\n',
      'GET / HTTP/1.1\r\ncontent-length: x\r\n\r\n',
    ]) {
      const socket = dial(receiver)
      socket.write(junk)
      const [response] = await once(socket, 'data')
      expect(response).toContain('HTTP/1.1 400')
      await once(socket, 'close')
    }
    expect(receiver.requests).toEqual([])
    expect((await fetchText(receiver.url())).status).toBe(200)
  })
})
