import { fileURLToPath } from 'node:url'

/**
 * The path of the built file that this is in. The package is built from the same files as ESM and as CommonJS, where
 * the mere word `import.meta` is a syntax error; ESM has no `__filename`. V8 knows both (https://v8.dev/docs/stack-trace-api).
 */
export const HERE: string = typeof __filename === 'string' ? __filename : calledFrom()

function calledFrom(): string {
  const { prepareStackTrace, stackTraceLimit } = Error
  try {
    Error.stackTraceLimit = 1
    Error.prepareStackTrace = (_, [site]) => site?.getFileName()
    const file = String(new Error().stack)
    return file.startsWith('file:') ? fileURLToPath(file) : file
  } finally {
    Error.stackTraceLimit = stackTraceLimit
    Error.prepareStackTrace = prepareStackTrace
  }
}
