/** Next.js calls this once, before the server takes requests. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    const { startHookswitch } = await import('./lib/hookswitch')
    await startHookswitch()
  }
}
