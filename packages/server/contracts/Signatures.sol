// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Checks signatures of key holders (65 bytes: r, s, v) and of contracts (ERC-1271).
library Signatures {
    bytes4 private constant ERC1271_MAGIC = 0x1626ba7e;
    /// Half of secp256k1's order: of a signature's two forms, only the one with the low s counts (EIP-2).
    uint256 private constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    /// EIP-712.
    function typedDigest(bytes32 domainSeparator, bytes32 structHash) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(hex"1901", domainSeparator, structHash));
    }

    function isValid(address signer, bytes32 digest, bytes memory signature) internal view returns (bool) {
        if (signer == address(0)) return false;
        if (recover(digest, signature) == signer) return true;
        return signer.code.length > 0 && _isValidForContract(signer, digest, signature);
    }

    /// The zero address for a signature that is none.
    function recover(bytes32 digest, bytes memory signature) internal pure returns (address) {
        if (signature.length != 65) return address(0);
        bytes32 r;
        bytes32 s;
        uint8 v;
        assembly ("memory-safe") {
            r := mload(add(signature, 32))
            s := mload(add(signature, 64))
            v := byte(0, mload(add(signature, 96)))
        }
        if (uint256(s) > HALF_ORDER) return address(0);
        return ecrecover(digest, v < 27 ? v + 27 : v, r, s);
    }

    function _isValidForContract(address signer, bytes32 digest, bytes memory signature) private view returns (bool) {
        (bool answered, bytes memory answer) =
            signer.staticcall(abi.encodeWithSelector(ERC1271_MAGIC, digest, signature));
        return answered && answer.length >= 32 && bytes32(answer) == bytes32(ERC1271_MAGIC);
    }
}
