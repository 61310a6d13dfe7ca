/** Abusive receivers in a separate thread, so that their memory is not counted as the sender's. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { onCleanup } from './harness.js'

/** The behaviours, selected by the first path segment. Each continues until it is disconnected. */
export const ABUSIVE_BEHAVIOURS = [
  'endless-body',
  'endless-chunks',
  'endless-extension',
  'endless-trailers',
  'endless-headers',
  'interim-flood',
  'gzip-bomb',
  'drip-headers',
  'drip-body',
  'garbage',
  'silence',
] as const
export type AbusiveBehaviour = (typeof ABUSIVE_BEHAVIOURS)[number]

const THREAD = `
const { createServer } = require('node:net')
const { gzipSync } = require('node:zlib')
const { parentPort } = require('node:worker_threads')

const flood = (socket, text) => {
  const chunk = Buffer.from(text.repeat(Math.ceil(16384 / text.length)), 'latin1')
  const writeAll = () => { while (!socket.destroyed && socket.write(chunk)); }
  socket.on('drain', writeAll)
  writeAll()
}
const drip = (socket, text) => {
  let index = 0
  const timer = setInterval(() => socket.destroyed || socket.write(text[index++ % text.length]), 5)
  socket.on('close', () => clearInterval(timer))
}
const OK = 'HTTP/1.1 200 OK\\r\\n'
const CHUNKED = OK + 'transfer-encoding: chunked\\r\\n\\r\\n'
const bomb = gzipSync(Buffer.alloc(20_000_000)).toString('latin1')
const behaviours = {
  'endless-body': (socket) => { socket.write(OK + '\\r\\n'); flood(socket, 'x') },
  'endless-chunks': (socket) => { socket.write(CHUNKED); flood(socket, '1\\r\\nx\\r\\n') },
  'endless-extension': (socket) => { socket.write(CHUNKED + '1;'); flood(socket, 'x') },
  'endless-trailers': (socket) => { socket.write(CHUNKED + '0\\r\\n'); flood(socket, 'x-a: b\\r\\n') },
  'endless-headers': (socket) => { socket.write(OK); flood(socket, 'x-a: b\\r\\n') },
  'interim-flood': (socket) => flood(socket, 'HTTP/1.1 103 Early\\r\\nx: ' + 'y'.repeat(8000) + '\\r\\n\\r\\n'),
  'gzip-bomb': (socket) => { socket.write(OK + 'content-encoding: gzip\\r\\n\\r\\n'); flood(socket, bomb) },
  'drip-headers': (socket) => { socket.write(OK); drip(socket, 'x-drip: y\\r\\n') },
  'drip-body': (socket) => { socket.write(OK + 'content-length: 1000000\\r\\n\\r\\n'); drip(socket, 'z') },
  garbage: (socket) => flood(socket, '\\0\\xff\\r\\n\\x16\\x03'),
  silence: () => {},
}
const server = createServer((socket) => {
  socket.on('error', () => {})
  socket.once('data', (chunk) => behaviours[/^POST \\/([a-z-]+)/.exec(chunk.toString('latin1'))[1]](socket))
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

/** Starts the thread. Resolves to the port; any host name that resolves to loopback can be used. */
export async function startAbusiveReceivers(): Promise<number> {
  const worker = new Worker(THREAD, { eval: true })
  onCleanup(async () => void (await worker.terminate()))
  const [port] = await once(worker, 'message')
  return port as number
}
