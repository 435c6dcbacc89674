// Redis servers for the benchmark, in memory only, on free ports: one node, or primaries of a cluster.

import { spawn } from 'node:child_process'
import { createClient, createCluster } from 'redis'
import { builtFile } from './programs.mjs'
import { sleep, spawnRedis } from './redis-process.mjs'

const slots = 16384

/** One node alone, or `count` nodes of a cluster that share the slots evenly; `module`: a file to load. */
export async function startRedis(count, isCluster = count > 1, module = undefined) {
  const nodes = []
  const args = [
    ...(isCluster ? ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'] : []),
    ...(module ? ['--loadmodule', module] : []),
  ]
  try {
    for (let i = 0; i < count; i++) nodes.push(await startNode(args))
    if (isCluster) await joined(nodes)
    const client = isCluster
      ? createCluster({ rootNodes: [{ url: nodes[0].url }] })
      : createClient({ url: nodes[0].url })
    client.on('error', () => {})
    await client.connect()
    return new Redis(nodes, client, isCluster)
  } catch (error) {
    for (const node of nodes) node.stop()
    throw error
  }
}

/** `urlsieve serve`, in memory, in the place of one node. */
export async function startServe() {
  const args = [builtFile('cli/main.js'), 'serve', '--port', '0', '--no-http', '--json', '--memory', '8G']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const line = await new Promise((resolve) => child.stdout.once('data', resolve))
  const client = createClient({ url: `redis://127.0.0.1:${JSON.parse(line).resp}` })
  client.on('error', () => {})
  await client.connect()
  const stop = () => {
    process.off('exit', kill)
    kill()
  }
  return new Redis([{ admin: client, stop }], client, false)
}

class Redis {
  constructor(nodes, client, isCluster) {
    Object.assign(this, { nodes, client, isCluster })
  }

  /** One raw command to the node of a key, without the client's own timeout, which is slow: as urlsieve/redis does. */
  send(key, args) {
    const options = { timeout: 0 }
    return this.isCluster
      ? this.client.sendCommand(key, false, args, options)
      : this.client.sendCommand(args, options)
  }

  async flush() {
    for (const { admin } of this.nodes) await admin.sendCommand(['FLUSHALL', 'SYNC'])
  }

  /** Sums over the nodes: memory in use, processor seconds, bytes that came in and went out, bytes to replicas. */
  async counters() {
    const sums = { memoryBytes: 0, cpuSeconds: 0, inBytes: 0, outBytes: 0, replicationBytes: 0 }
    for (const { admin } of this.nodes) {
      const info = String(await admin.sendCommand(['INFO', 'all']))
      const field = (name) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)[1])
      sums.memoryBytes += field('used_memory')
      sums.cpuSeconds += field('used_cpu_user') + field('used_cpu_sys')
      sums.inBytes += field('total_net_input_bytes')
      sums.outBytes += field('total_net_output_bytes')
      sums.replicationBytes += field('master_repl_offset')
    }
    return sums
  }

  async stop() {
    this.client.destroy()
    for (const node of this.nodes) node.stop()
  }
}

export async function startNode(args) {
  const { port, url, child } = await spawnRedis(args)
  const admin = createClient({ url, socket: { reconnectStrategy: 50 } })
  admin.on('error', () => {})
  await admin.connect()
  const stop = () => {
    admin.destroy()
    child.kill('SIGKILL')
  }
  return { port, url, admin, stop }
}

async function joined(nodes) {
  for (const [i, { admin }] of nodes.entries()) {
    const mine = Array.from({ length: slots }, (_, slot) => slot).filter(
      (slot) => Math.floor((slot * nodes.length) / slots) === i,
    )
    await admin.sendCommand(['CLUSTER', 'ADDSLOTS', ...mine.map(String)])
    await admin.sendCommand(['CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1)])
  }
  for (const { port } of nodes.slice(1))
    await nodes[0].admin.sendCommand(['CLUSTER', 'MEET', '127.0.0.1', String(port)])
  for (const { admin } of nodes) {
    while (!String(await admin.sendCommand(['CLUSTER', 'INFO'])).includes('cluster_state:ok')) await sleep(50)
    while (!String(await admin.sendCommand(['CLUSTER', 'INFO'])).includes(`cluster_size:${nodes.length}`))
      await sleep(50)
  }
}
