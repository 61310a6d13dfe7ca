/** Clients for tests of the scripted receiver. */
import { connect } from 'node:net'
import { type ReceiverOptions, type ScriptedReceiver, type Step, scriptedReceiver } from 'hookswitch/testkit'
import { request } from 'undici'
import { onTestFinished } from 'vitest'

/** Starts a receiver that is closed after the test. */
export async function startReceiver(options: ReceiverOptions = {}) {
  const receiver = scriptedReceiver(options)
  onTestFinished(() => receiver.close())
  await receiver.start()
  return receiver
}

export const startWithSteps = (...script: Step[]) => startReceiver({ script })

/** Sends a request with an HTTP client, and reads the whole response. */
export async function fetchText(url: string, options: Parameters<typeof request>[1] = {}) {
  const response = await request(url, options)
  return { status: response.statusCode, headers: response.headers, body: await response.body.text() }
}

/** Opens a TCP connection. */
export const dial = (receiver: ScriptedReceiver) =>
  connect(Number(new URL(receiver.url()).port), '127.0.0.1').setEncoding('latin1')

/** Sends a request over TCP, and collects the received bytes without parsing them. */
export function listen(receiver: ScriptedReceiver, method = 'GET') {
  const socket = dial(receiver)
  const received = { text: '', end: undefined as 'fin' | 'reset' | undefined, socket }
  socket.on('data', (text) => {
    received.text += text
  })
  socket.on('end', () => {
    received.end ??= 'fin'
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') received.end = 'reset'
  })
  socket.write(`${method} / HTTP/1.1\r\nhost: x\r\n\r\n`)
  return received
}
