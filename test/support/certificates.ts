// Certificates that the environment adds to Node's own are read by every Node process when it starts, which takes 28 ms of processor
// time, and the tests start thousands. Only npm needs them, to fetch a package.

/** Node's variable, and where its value is kept for the workers. */
const VARIABLE = 'NODE_EXTRA_CA_CERTS'
const KEPT = 'URLSIEVE_TEST_CA_CERTS'

/** Called once by vitest, before all tests. */
export default function setup(): void {
  const file = process.env[VARIABLE]
  if (file === undefined) return
  process.env[KEPT] = file
  delete process.env[VARIABLE]
}

/** An environment with these certificates. */
export function withCertificates(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const file = process.env[KEPT]
  return file === undefined ? env : { ...env, [VARIABLE]: file }
}
