import { gunzipSync } from 'node:zlib'
import * as kit from 'hookswitch/testkit'
import { request } from 'undici'
import { describe, expect, it } from 'vitest'
import { fetchText, listen, startReceiver, startWithSteps } from './receiver-client.js'

/** The bytes that a client has received when the connection ends, and how it ended. */
async function untilEnd(receiver: kit.ScriptedReceiver) {
  const received = listen(receiver)
  await kit.until(() => received.end)
  return received
}

describe('faulty steps', () => {
  it('hang sends nothing and leaves the connection open', async () => {
    const receiver = await startWithSteps(kit.hang())
    const received = listen(receiver)
    await receiver.next()
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect([received.text, received.end, receiver.openConnections]).toEqual(['', undefined, 1])
    received.socket.destroy()
    await kit.until(() => receiver.openConnections === 0)
  })

  it('reset closes the connection before or during a response', async () => {
    const receiver = await startWithSteps(
      kit.reset(),
      kit.reset({ afterBytes: 12 }),
      kit.reset({ afterBytes: 5, response: {} }),
    )
    expect(await untilEnd(receiver)).toMatchObject({ text: '', end: 'reset' })
    for (const bytes of ['HTTP/1.1 200', 'HTTP/']) {
      const received = await untilEnd(receiver)
      expect(received.end).toBe('reset')
      expect(bytes.startsWith(received.text)).toBe(true)
    }
  })

  it('closeSilently sends nothing', async () => {
    const receiver = await startWithSteps(kit.closeSilently())
    expect(await untilEnd(receiver)).toMatchObject({ text: '', end: 'fin' })
    await expect(fetchText(receiver.url())).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' })
  })

  it('garbage is not HTTP', async () => {
    const receiver = await startWithSteps(kit.garbage())
    await expect(fetchText(receiver.url())).rejects.toMatchObject({ name: 'HTTPParserError' })
  })

  it('rawBytes sends bytes unchanged, and later requests are answered', async () => {
    const receiver = await startWithSteps(
      kit.rawBytes('HTTP/1.1 299 ', Buffer.from('X\r\ncontent-length: 2\r\n\r\nhi')),
      kit.status(200),
    )
    expect(await fetchText(receiver.url())).toMatchObject({ status: 299, body: 'hi' })
    expect((await fetchText(receiver.url())).status).toBe(200)
  })

  it('shortBody sends fewer bytes than it declares', async () => {
    const receiver = await startWithSteps(kit.shortBody({ declared: 50, sent: 20 }))
    const received = await untilEnd(receiver)
    expect(received.text).toContain('content-length: 50\r\n')
    expect(received.text.split('\r\n\r\n')[1]).toBe('s'.repeat(20))
    await expect(fetchText(receiver.url())).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' })
  })

  it('dripHeaders and dripBody send single bytes, and end after `bytes`', async () => {
    const receiver = await startWithSteps(
      kit.dripHeaders({ everyMs: 1, bytes: 3 }),
      kit.dripBody({ everyMs: 1, bytes: 4 }),
    )
    expect(await fetchText(receiver.url())).toMatchObject({ status: 200, headers: { 'x-drip': 'ddd' } })
    expect(await fetchText(receiver.url())).toMatchObject({ status: 200, body: 'dddd' })
  })

  it.each([
    [kit.dripHeaders({ everyMs: 50 }), /^HTTP\/1\.1 200 OK\r\nx-drip: d{5}$/],
    [kit.dripBody({ everyMs: 50 }), /chunked\r\n\r\n(1\r\nd\r\n){5}$/],
  ])('without `bytes` they send one byte per interval endlessly (%o)', async (step, expected) => {
    const clock = kit.manualClock()
    const receiver = await startReceiver({ clock, script: [step] })
    const received = listen(receiver)
    for (let due = 50; due <= 200; due += 50) {
      await kit.until(() => clock.sleepers().nextDueMs === due)
      await clock.advance(50)
    }
    await kit.until(() => expected.test(received.text))
    await kit.until(() => clock.sleepers().count === 1)
    received.socket.destroy()
    await kit.until(() => clock.sleepers().count === 0)
  })

  it('endlessBody sends until the client disconnects', async () => {
    const receiver = await startWithSteps(kit.endlessBody())
    const { body } = await request(receiver.url())
    let read = 0
    for await (const chunk of body) {
      read += (chunk as Buffer).length
      if (read > 10_000_000) break
    }
    await kit.until(() => receiver.openConnections === 0)
  })

  it('flood1xx sends interim responses, endlessly or before a 200', async () => {
    const receiver = await startWithSteps(kit.flood1xx({ count: 1_000 }), kit.flood1xx({ code: 102 }))
    expect((await fetchText(receiver.url())).status).toBe(200)
    const received = listen(receiver)
    await kit.until(() => received.text.length > 100_000)
    expect(new Set(received.text.match(/HTTP\/1\.1 \d+/g))).toEqual(new Set(['HTTP/1.1 102']))
    received.socket.destroy()
    // The first client keeps its idle connection open.
    await kit.until(() => receiver.openConnections <= 1)
  })

  it('gzipBomb sends a few bytes that inflate to many', async () => {
    const receiver = await startWithSteps(kit.gzipBomb({ inflatedMiB: 3 }))
    const response = await request(receiver.url())
    const bytes = Buffer.from(await response.body.arrayBuffer())
    expect(response.headers['content-encoding']).toBe('gzip')
    expect(bytes.length).toBeLessThan(10_000)
    expect(gunzipSync(bytes)).toHaveLength(3 * 1_048_576)
  })

  it('unsolicited sends two responses to one request', async () => {
    const receiver = await startWithSteps(kit.unsolicited())
    const received = listen(receiver)
    await kit.until(() => received.text.endsWith('unsolicited'))
    expect(received.text.match(/HTTP\/1\.1 200/g)).toHaveLength(2)
    received.socket.destroy()
  })

  it('close works during every step', async () => {
    const steps = [
      kit.hang(),
      kit.gate(),
      kit.delay(60_000),
      kit.dripHeaders({ everyMs: 1 }),
      kit.dripBody({ everyMs: 1 }),
      kit.endlessBody(),
      kit.flood1xx(),
    ]
    const receiver = await startWithSteps(...steps)
    // These clients never read, so the receiver's writes block.
    const clients = steps.map(() => listen(receiver).socket.pause())
    await receiver.next(steps.length)
    await receiver.close()
    expect(receiver.openConnections).toBe(0)
    for (const client of clients) client.destroy()
    // The event loop still turns: no step loops on its closed connection.
    await new Promise((resolve) => setImmediate(resolve))
  })
})
