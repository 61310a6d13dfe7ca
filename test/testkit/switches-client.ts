import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { until } from 'hookswitch/testkit'
import { onTestFinished } from 'vitest'

/** A recording of a real switch. */
export function recorded(name: string): Buffer {
  return readFileSync(new URL(`../../examples/switches/recordings/${name}`, import.meta.url))
}

/** A client without a protocol: it sends and receives bytes. */
export interface RawClient {
  readonly socket: Socket
  /** Everything received, one character per byte. */
  readonly received: string
  readonly isClosed: boolean
  send(text: string): void
  /** Waits until `text` is received after the previous match; returns everything since then, including `text`. */
  waitFor(text: string): Promise<string>
  closed(): Promise<void>
}

/** Connects; reads nothing if `reads` is false. */
async function rawClient(port: number, reads = true): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  let read = 0
  let isClosed = false
  if (reads) {
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
  }
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
  })
  await until(() => socket.readyState === 'open' || isClosed)
  return {
    socket,
    get received() {
      return received
    },
    get isClosed() {
      return isClosed
    },
    send: (text) => void socket.write(text, 'latin1'),
    async waitFor(text) {
      const find = () => received.indexOf(text, read) + 1
      const end = (await until(find, { description: `'${text}' was received` })) - 1 + text.length
      const between = received.slice(read, end)
      read = end
      return between
    },
    closed: async () => void (await until(() => isClosed, { description: 'the connection was closed' })),
  }
}

/** Starts a fake or a receiver, which is closed after the test and after the clients that connect later. */
export async function started<Startable extends { start(): unknown; close(): unknown }>(fake: Startable) {
  // Callbacks run in reverse order.
  onTestFinished(async () => void (await fake.close()))
  await fake.start()
  return fake
}

/** Connects until the test is over, and waits for the greeting. Reads nothing if `reads` is false. */
export async function connected({ port }: { readonly port: number }, greeting = '', reads = true) {
  const client = await rawClient(port, reads)
  onTestFinished(() => void client.socket.destroy())
  if (greeting !== '') await client.waitFor(greeting)
  return client
}
