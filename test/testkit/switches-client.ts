import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { until } from 'hookswitch/testkit'

/** A recording of a real switch. */
export function recorded(name: string): Buffer {
  return readFileSync(new URL(`../../examples/switches/recordings/${name}`, import.meta.url))
}

/** A client that knows no protocol: what it says and hears is bytes. */
export interface RawClient {
  readonly socket: Socket
  /** All that was heard, one character a byte. */
  readonly heard: string
  readonly isClosed: boolean
  say(text: string): void
  /** Waits until this was heard after what was waited for last, and gives what came between. */
  hear(text: string): Promise<string>
  closed(): Promise<void>
}

/** Connects; without reading where `reads` is false. */
export async function rawClient(port: number, reads = true): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1')
  let heard = ''
  let read = 0
  let isClosed = false
  if (reads) {
    socket.on('data', (chunk) => {
      heard += chunk.toString('latin1')
    })
  }
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
  })
  await until(() => socket.readyState === 'open' || isClosed)
  return {
    socket,
    get heard() {
      return heard
    },
    get isClosed() {
      return isClosed
    },
    say: (text) => void socket.write(text, 'latin1'),
    async hear(text) {
      const find = () => heard.indexOf(text, read) + 1
      const end = (await until(find, { what: `'${text}' was heard` })) - 1 + text.length
      const between = heard.slice(read, end)
      read = end
      return between
    },
    closed: async () => void (await until(() => isClosed, { what: 'the connection was closed' })),
  }
}
