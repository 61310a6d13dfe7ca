/** A promise and the function that resolves it: `Promise.withResolvers`, which Node 20 lacks. */
export function deferred<Value = void>() {
  let resolve: (value: Value) => void = () => {}
  const promise = new Promise<Value>((resolvePromise) => {
    resolve = resolvePromise
  })
  return { promise, resolve }
}
